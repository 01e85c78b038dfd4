/**
 * Web analytics, as in section 8.1 of the Bigtable paper: a table of raw clicks, and a table of
 * summaries that a job makes of it again and again.
 */
package io.stele.examples.analytics;
