// SPDX-License-Identifier: Apache-2.0
// A layered drawing of a small graph, left to right: a node stands one rank right of its last source, and the order
// in a rank follows the middle of its neighbours. For lineage, whose answers carry no positions.

export interface Placed {
  id: string
  rank: number
  row: number
}

export function place_in_layers(ids: string[], edges: [string, string][]): { nodes: Placed[]; ranks: number; rows: number } {
  const known = new Set(ids)
  const links = edges.filter(([from, to]) => known.has(from) && known.has(to) && from !== to)
  const rank = new Map(ids.map((id) => [id, 0]))
  for (let pass = 0; pass < ids.length; pass++) {
    let moved = false
    for (const [from, to] of links) {
      const wanted = rank.get(from)! + 1
      if (wanted > rank.get(to)! && wanted < ids.length) {
        rank.set(to, wanted)
        moved = true
      }
    }
    if (!moved) break
  }
  // Sources move right, next to their first use: a seed or a code snapshot stands beside the job that took it.
  for (const id of ids) {
    const uses = links.filter(([from]) => from === id).map(([, to]) => rank.get(to)!)
    const has_source = links.some(([, to]) => to === id)
    if (!has_source && uses.length) rank.set(id, Math.max(0, Math.min(...uses) - 1))
  }
  const layers: string[][] = []
  for (const id of ids) (layers[rank.get(id)!] ??= []).push(id)
  const full = Array.from(layers, (layer) => layer ?? []).filter((layer) => layer.length)
  const row_of = new Map<string, number>()
  full.forEach((layer) => layer.forEach((id, index) => row_of.set(id, index - (layer.length - 1) / 2)))
  for (let sweep = 0; sweep < 6; sweep++) {
    const forward = sweep % 2 === 0
    for (const layer of forward ? full : [...full].reverse()) {
      const middle = (id: string) => {
        const near = links.filter(([from, to]) => (forward ? to : from) === id).map(([from, to]) => row_of.get(forward ? from : to)!)
        return near.length ? near.reduce((sum, row) => sum + row, 0) / near.length : row_of.get(id)!
      }
      const wanted = new Map(layer.map((id) => [id, middle(id)]))
      layer.sort((a, b) => wanted.get(a)! - wanted.get(b)!)
      layer.forEach((id, index) => row_of.set(id, index - (layer.length - 1) / 2))
    }
  }
  const rows = Math.max(1, ...full.map((layer) => layer.length))
  const nodes = full.flatMap((layer, index) => layer.map((id) => ({ id, rank: index, row: row_of.get(id)! + (rows - 1) / 2 })))
  return { nodes, ranks: full.length, rows }
}
