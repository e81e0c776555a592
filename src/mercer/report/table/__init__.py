"""The data: what the columns are, what each says alone, how new rows differ from old ones."""
