"""Choose the settings of a model: candidates, how each is judged, which one is taken and why."""
