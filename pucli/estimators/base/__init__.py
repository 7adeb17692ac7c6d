"""What the estimators of a family share."""
