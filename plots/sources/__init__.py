"""What the five sources published: their figures, and their claims, a function each."""
