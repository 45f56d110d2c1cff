"""Words on the screen: two wordings, sentences about results, user text made visible."""
