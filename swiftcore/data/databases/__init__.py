"""An OMOP CDM in PostgreSQL to a data set: the server counts, its address stays secret."""
