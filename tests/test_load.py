"""Load: never lose, never double, however the files change and whatever is killed."""
