"""Operations that come after one another: when each begins, were some of them quicker."""
