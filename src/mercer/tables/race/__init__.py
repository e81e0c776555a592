"""The race between candidates on a table: who they are, how they are judged, who is chosen."""
