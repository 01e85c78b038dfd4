package io.stele.record;

/**
 * How many versions of a column a family counted until some moment, if that is more than it counts
 * now. What happened before that moment is judged by this number: a version that is gone had pushed
 * out another only if there were so many.
 *
 * @param versions the number; 0: the family counted none, and kept all
 * @param through the moment: the sequence number of the last operation before the alteration
 */
public record FormerCount(int versions, long through) {}
