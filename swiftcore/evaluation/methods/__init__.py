"""Every method that can be compared; only here concrete models are named."""
