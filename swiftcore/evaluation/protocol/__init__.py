"""One fold of an experiment: who trains, who chooses, who judges."""
