"""SWIFT: factors whose reconstruction is close to the data in Wasserstein distance."""
