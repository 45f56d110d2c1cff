"""A phenotype as a rule that other systems can compute: at least k of these, m of those."""
