-- Lists have a fixed length: a shorter one is filled up by repeating its last member.

-- name: granted_blobs
SELECT digest FROM blob_projects
WHERE project = ?1 AND digest IN (
  ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
  ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33,
  ?34, ?35, ?36, ?37, ?38, ?39, ?40, ?41, ?42, ?43, ?44, ?45, ?46, ?47, ?48, ?49,
  ?50, ?51, ?52, ?53, ?54, ?55, ?56, ?57, ?58, ?59, ?60, ?61, ?62, ?63, ?64, ?65
)

-- name: insert_blobs
INSERT INTO blobs (pack, added_at, digest, pack_offset, stored_bytes, raw_bytes)
VALUES
  (?1, ?2, ?3, ?4, ?5, ?6),
  (?1, ?2, ?7, ?8, ?9, ?10),
  (?1, ?2, ?11, ?12, ?13, ?14),
  (?1, ?2, ?15, ?16, ?17, ?18),
  (?1, ?2, ?19, ?20, ?21, ?22),
  (?1, ?2, ?23, ?24, ?25, ?26),
  (?1, ?2, ?27, ?28, ?29, ?30),
  (?1, ?2, ?31, ?32, ?33, ?34),
  (?1, ?2, ?35, ?36, ?37, ?38),
  (?1, ?2, ?39, ?40, ?41, ?42),
  (?1, ?2, ?43, ?44, ?45, ?46),
  (?1, ?2, ?47, ?48, ?49, ?50),
  (?1, ?2, ?51, ?52, ?53, ?54),
  (?1, ?2, ?55, ?56, ?57, ?58),
  (?1, ?2, ?59, ?60, ?61, ?62),
  (?1, ?2, ?63, ?64, ?65, ?66),
  (?1, ?2, ?67, ?68, ?69, ?70),
  (?1, ?2, ?71, ?72, ?73, ?74),
  (?1, ?2, ?75, ?76, ?77, ?78),
  (?1, ?2, ?79, ?80, ?81, ?82),
  (?1, ?2, ?83, ?84, ?85, ?86),
  (?1, ?2, ?87, ?88, ?89, ?90),
  (?1, ?2, ?91, ?92, ?93, ?94),
  (?1, ?2, ?95, ?96, ?97, ?98),
  (?1, ?2, ?99, ?100, ?101, ?102),
  (?1, ?2, ?103, ?104, ?105, ?106),
  (?1, ?2, ?107, ?108, ?109, ?110),
  (?1, ?2, ?111, ?112, ?113, ?114),
  (?1, ?2, ?115, ?116, ?117, ?118),
  (?1, ?2, ?119, ?120, ?121, ?122),
  (?1, ?2, ?123, ?124, ?125, ?126),
  (?1, ?2, ?127, ?128, ?129, ?130)
ON CONFLICT (digest) DO NOTHING

-- name: insert_grants
INSERT INTO blob_projects (project, digest)
VALUES
  (?1, ?2), (?1, ?3), (?1, ?4), (?1, ?5), (?1, ?6), (?1, ?7), (?1, ?8), (?1, ?9),
  (?1, ?10), (?1, ?11), (?1, ?12), (?1, ?13), (?1, ?14), (?1, ?15), (?1, ?16), (?1, ?17),
  (?1, ?18), (?1, ?19), (?1, ?20), (?1, ?21), (?1, ?22), (?1, ?23), (?1, ?24), (?1, ?25),
  (?1, ?26), (?1, ?27), (?1, ?28), (?1, ?29), (?1, ?30), (?1, ?31), (?1, ?32), (?1, ?33)
ON CONFLICT (project, digest) DO NOTHING

-- name: insert_loose_blob
INSERT INTO blobs (pack, added_at, digest, pack_offset, stored_bytes, raw_bytes)
VALUES (0, ?1, ?2, 0, ?3, ?3)
ON CONFLICT (digest) DO NOTHING

-- name: insert_grant
INSERT INTO blob_projects (project, digest) VALUES (?1, ?2)
ON CONFLICT (project, digest) DO NOTHING

-- name: find_blob
SELECT packs.digest, blobs.pack_offset, blobs.stored_bytes, blobs.raw_bytes
FROM blob_projects
JOIN blobs ON blobs.digest = blob_projects.digest
LEFT JOIN packs ON packs.id = blobs.pack
WHERE blob_projects.project = ?1 AND blob_projects.digest = ?2

-- name: find_blobs
SELECT packs.digest, blobs.pack_offset, blobs.stored_bytes, blobs.raw_bytes, blobs.digest
FROM blob_projects
JOIN blobs ON blobs.digest = blob_projects.digest
LEFT JOIN packs ON packs.id = blobs.pack
WHERE blob_projects.project = ?1 AND blob_projects.digest IN (
  ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
  ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33,
  ?34, ?35, ?36, ?37, ?38, ?39, ?40, ?41, ?42, ?43, ?44, ?45, ?46, ?47, ?48, ?49,
  ?50, ?51, ?52, ?53, ?54, ?55, ?56, ?57, ?58, ?59, ?60, ?61, ?62, ?63, ?64, ?65
)

-- name: find_stored_blob
SELECT pack FROM blobs WHERE digest = ?1

-- name: find_pack
SELECT id FROM packs WHERE digest = ?1

-- name: insert_pack
INSERT INTO packs (id, digest, stored_bytes) VALUES (?1, ?2, ?3)

-- name: delete_pack
DELETE FROM packs WHERE id = ?1

-- name: stored_blob_bytes
SELECT COALESCE(SUM(stored_bytes), 0) FROM blobs

-- name: all_blobs
SELECT digest, pack, pack_offset, stored_bytes, raw_bytes FROM blobs ORDER BY pack, pack_offset

-- name: all_packs
SELECT id, digest, stored_bytes FROM packs

-- name: find_blob_place
SELECT pack, pack_offset FROM blobs WHERE digest = ?1

-- name: grants_without_blob
SELECT COUNT(*), COALESCE(MIN(blob_projects.digest), '')
FROM blob_projects LEFT JOIN blobs ON blobs.digest = blob_projects.digest
WHERE blobs.digest IS NULL
