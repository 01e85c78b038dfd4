/**
 * Personalized search, as in section 8.3 of the Bigtable paper: what users did, a job that makes
 * profiles of it, and results in an order that depends on the profile.
 */
package io.stele.examples.search;
