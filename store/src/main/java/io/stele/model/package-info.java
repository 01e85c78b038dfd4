/**
 * The data model: rows, cells, mutations, queries, filters and schemas as immutable values. Public
 * API; no I/O.
 *
 * <p>Nothing here depends on any other package of Stele.
 */
package io.stele.model;
