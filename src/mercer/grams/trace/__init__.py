"""From a kernel's profile to a program of the native engine."""
