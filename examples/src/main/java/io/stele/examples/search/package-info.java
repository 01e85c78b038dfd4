/**
 * Personalized search, as in section 8.3 of the Bigtable paper: users' actions, a job that makes
 * profiles of them, and results in an order that depends on the profile.
 */
package io.stele.examples.search;
