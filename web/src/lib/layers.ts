// SPDX-License-Identifier: Apache-2.0
// A layered drawing of a small graph, left to right: a node stands one rank right of its last source, the order in a
// rank follows the middle of its neighbours, and a link over several ranks bends in each, so that it passes between
// nodes and not behind them. For lineage, whose answers carry no positions.

export interface Placed {
  id: string
  rank: number
  row: number
  is_bend: boolean
}

export interface Layers {
  nodes: Placed[]
  /** For each link the ids that it passes: its source, bends, its target. */
  routes: string[][]
  ranks: number
  rows: number
}

export function place_in_layers(ids: string[], edges: [string, string][]): Layers {
  const known = new Set(ids)
  const links = edges.filter(([from, to]) => known.has(from) && known.has(to) && from !== to)
  const rank = ranks_of(ids, links)
  const routes = links.map(([from, to], index) => route_of(from, to, index, rank))
  const parts = routes.flatMap((route) => route.slice(1).map((id, step): [string, string] => [route[step]!, id]))
  const full = layers_of(rank)
  const row_of = new Map<string, number>()
  for (const layer of full) spread(layer, row_of)
  for (let sweep = 0; sweep < 8; sweep++) {
    const forward = sweep % 2 === 0
    for (const layer of forward ? full : [...full].reverse()) {
      const wanted = new Map(layer.map((id) => [id, middle_of(id, parts, row_of, forward)]))
      layer.sort((a, b) => wanted.get(a)! - wanted.get(b)!)
      spread(layer, row_of)
    }
  }
  const rows = Math.max(1, ...full.map((layer) => layer.length))
  const nodes = full.flatMap((layer, index) =>
    layer.map((id) => ({ id, rank: index, row: row_of.get(id)! + (rows - 1) / 2, is_bend: !known.has(id) })),
  )
  return { nodes, routes, ranks: full.length, rows }
}

function ranks_of(ids: string[], links: [string, string][]): Map<string, number> {
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
  // Sources move right, next to their first use: a code snapshot stands beside the job that took it.
  for (const id of ids) {
    const uses = links.filter(([from]) => from === id).map(([, to]) => rank.get(to)!)
    if (uses.length && !links.some(([, to]) => to === id)) rank.set(id, Math.max(0, Math.min(...uses) - 1))
  }
  return rank
}

/** Adds the bends of a link to the ranks. */
function route_of(from: string, to: string, index: number, rank: Map<string, number>): string[] {
  const route = [from]
  for (let at = rank.get(from)! + 1; at < rank.get(to)!; at++) {
    const bend = `bend ${index} ${at}`
    rank.set(bend, at)
    route.push(bend)
  }
  return [...route, to]
}

function layers_of(rank: Map<string, number>): string[][] {
  const layers: string[][] = []
  for (const [id, at] of rank) (layers[at] ??= []).push(id)
  return Array.from(layers, (layer) => layer ?? []).filter((layer) => layer.length)
}

function spread(layer: string[], row_of: Map<string, number>): void {
  layer.forEach((id, index) => row_of.set(id, index - (layer.length - 1) / 2))
}

function middle_of(id: string, parts: [string, string][], row_of: Map<string, number>, forward: boolean): number {
  const near = parts.filter(([from, to]) => (forward ? to : from) === id).map(([from, to]) => row_of.get(forward ? from : to)!)
  return near.length ? near.reduce((sum, row) => sum + row, 0) / near.length : row_of.get(id)!
}
