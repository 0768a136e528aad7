-- The beginnings of searches: run_search_store.cc adds conditions and order.

-- name: select_runs
SELECT r.id, r.experiment, r.name, r.user_name, r.status, r.is_deleted, r.start_ms, r.end_ms, r.artifact_uri, e.name
FROM runs r JOIN experiments e ON e.id = r.experiment

-- name: select_params
SELECT run, key, value FROM run_params

-- name: select_tags
SELECT run, key, value FROM run_tags

-- name: select_latest
SELECT run, key, timestamp_ms, step, is_nan, value FROM metric_latest

-- name: select_inputs
SELECT run, name, digest, source_type, source, schema, profile, tags FROM run_inputs

-- name: select_run_models
SELECT run, direction, model, step FROM run_models

-- name: count_metric_keys
SELECT t.key, COUNT(*) FROM runs r JOIN metric_latest t ON t.run = r.id GROUP BY t.key

-- name: count_param_keys
SELECT t.key, COUNT(*) FROM runs r JOIN run_params t ON t.run = r.id GROUP BY t.key

-- name: count_tag_keys
SELECT t.key, COUNT(*) FROM runs r JOIN run_tags t ON t.run = r.id GROUP BY t.key

-- name: select_experiment_tags
SELECT experiment, key, value FROM experiment_tags

-- name: select_model_words
SELECT model, kind, key, value FROM logged_model_words

-- name: select_model_metrics
SELECT model, key, run, dataset_name, dataset_digest, timestamp_ms, step, is_nan, value
FROM logged_model_metrics
