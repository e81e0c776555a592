"""The Fisher kernel and the models of data that it is made from."""
