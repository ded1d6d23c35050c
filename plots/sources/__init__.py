"""What the five sources published: their figures, and their claims in a table."""
