"""The paper's factorization baselines, behind one protocol; one file per method."""
