"""The referee: SWIFT written densely and slowly, straight from the problem it solves."""
