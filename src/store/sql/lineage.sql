-- name: insert_edge
INSERT INTO lineage_edges (project, from_ref, relation, to_ref, from_word, to_word, time_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (project, from_ref, relation, to_ref) DO NOTHING

-- name: edges_from
SELECT from_ref, relation, to_ref, time_ms FROM lineage_edges
WHERE project = ?1 AND from_ref = ?2 ORDER BY time_ms, relation, to_ref LIMIT ?3

-- name: edges_to
SELECT from_ref, relation, to_ref, time_ms FROM lineage_edges
WHERE project = ?1 AND to_ref = ?2 ORDER BY time_ms, relation, from_ref LIMIT ?3

-- name: refs_by_word
SELECT from_ref FROM lineage_edges WHERE project = ?1 AND from_word = ?2
UNION
SELECT to_ref FROM lineage_edges WHERE project = ?1 AND to_word = ?2
ORDER BY 1 LIMIT ?3
