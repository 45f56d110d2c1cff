"""From a path to a data set: what is it, read it in a guarded process, say what was found."""
