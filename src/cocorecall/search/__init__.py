"""Search: query → plan → candidates → ranking → excerpts within a budget → cited results."""
