// SPDX-License-Identifier: Apache-2.0
// What the pages of a run compute from it: the node that has the turn, one line of result, edges to draw.
import type { PipelineEdge, PipelineNode, PipelineRun } from '../../api/pipelines'
import { short_ref } from '../../lib/url'

/** A person's turn first, then what broke, then what runs, else the last that ended. */
export function node_with_turn(run: PipelineRun): PipelineNode | undefined {
  const nodes = run.nodes ?? []
  const order: PipelineNode['state'][][] = [['waiting-approval'], ['failed', 'rejected'], ['running', 'retrying'], ['stopped']]
  for (const states of order) {
    const found = nodes.find((node) => states.includes(node.state))
    if (found) return found
  }
  return nodes.filter((node) => node.ended_at).sort((a, b) => Date.parse(b.ended_at!) - Date.parse(a.ended_at!))[0] ?? nodes[0]
}

/** One line under a node's name: its reason when it has one to give, else what it gave. */
export function result_of(node: PipelineNode): string {
  const outputs = Object.entries(node.outputs ?? {})
  const refs = outputs.flatMap(([, value]) => (value.ref && !value.ref.startsWith('artifact/') ? [short_ref(value.ref)] : []))
  const plain = ['done', 'running', 'pending'].includes(node.state)
  if (node.reason && (!plain || node.action !== 'job')) return node.reason
  const numbers = outputs.flatMap(([, value]) => (value.kind === 'json' ? numbers_of(value.json) : [])).slice(0, 2)
  const parts = [node.work && short_ref(node.work), ...refs, ...numbers].filter((part): part is string => Boolean(part))
  return [...new Set(parts)].join(', ') || node.reason || ''
}

/** The top-level numbers of a JSON output, as name and value. */
export function numbers_of(json: unknown): string[] {
  if (!json || typeof json !== 'object') return []
  return Object.entries(json).flatMap(([name, value]) => (typeof value === 'number' ? [`${name} ${Number.isInteger(value) ? value : value.toFixed(4)}`] : []))
}

export function node_span_ms(node: PipelineNode, now: number): number | undefined {
  if (!node.started_at) return undefined
  const ended = node.ended_at ? Date.parse(node.ended_at) : ['running', 'retrying', 'waiting-approval'].includes(node.state) ? now : undefined
  return ended === undefined ? undefined : ended - Date.parse(node.started_at)
}

export interface DrawnEdge {
  from: string
  to: string
  labels: string[]
}

/** Edges between the same two nodes are drawn once, with all that is handed over. */
export function merge_edges(edges: PipelineEdge[]): DrawnEdge[] {
  const merged = new Map<string, DrawnEdge>()
  for (const { from, to, label } of edges) {
    const key = `${from}\n${to}`
    const edge = merged.get(key) ?? { from, to, labels: [] }
    if (label && !edge.labels.includes(label)) edge.labels.push(label)
    merged.set(key, edge)
  }
  return [...merged.values()]
}

export const node_width = 250
export const node_height = 46
const rank_height = 80
const column_width = 286
const lane_width = 26

export interface Path {
  d: string
  label: string
  label_x: number
  label_y: number
  centred: boolean
}

export interface Drawing {
  width: number
  height: number
  place: Map<string, { x: number; y: number }>
  paths: (Path & DrawnEdge)[]
}

/** Pixels from the server's columns and ranks. An edge that skips ranks goes round in a lane of its own. */
export function draw(nodes: PipelineNode[], edges: PipelineEdge[]): Drawing {
  const by_name = new Map(nodes.map((node) => [node.name, node]))
  const columns = Math.max(1, ...nodes.map((node) => node.x + 1))
  const merged = merge_edges(edges).filter((edge) => by_name.has(edge.from) && by_name.has(edge.to))
  const long = merged.filter((edge) => by_name.get(edge.to)!.y - by_name.get(edge.from)!.y > 1)
  // Lanes alternate right and left; the shortest edges take the inner ones.
  const lane_of = new Map<DrawnEdge, number>()
  ;[...long]
    .sort((a, b) => span(a) - span(b))
    .forEach((edge, index) => lane_of.set(edge, index))
  function span(edge: DrawnEdge): number {
    return by_name.get(edge.to)!.y - by_name.get(edge.from)!.y
  }
  const lanes = Math.ceil(long.length / 2)
  const margin = long.length ? 104 + (lanes - 1) * lane_width : 20
  const place = new Map(nodes.map((node) => [node.name, { x: margin + node.x * column_width, y: 20 + node.y * rank_height }]))
  const inner_right = margin + (columns - 1) * column_width + node_width
  const paths = merged.map((edge) => {
    const a = place.get(edge.from)!
    const b = place.get(edge.to)!
    const label = edge.labels.join(', ')
    const lane = lane_of.get(edge)
    if (lane === undefined) {
      const x0 = a.x + node_width / 2
      const x1 = b.x + node_width / 2
      const y0 = a.y + node_height
      const y1 = b.y - 2
      const middle = (y0 + y1) / 2
      const d = x0 === x1 ? `M${x0} ${y0}V${y1}` : `M${x0} ${y0}C${x0} ${middle} ${x1} ${middle} ${x1} ${y1}`
      return { ...edge, d, label, label_x: (x0 + x1) / 2 + 10, label_y: middle, centred: false }
    }
    const right = lane % 2 === 0
    const depth = Math.floor(lane / 2) * lane_width
    const way = right ? inner_right + 46 + depth : margin - 62 - depth
    const y0 = a.y + node_height / 2 + 6
    const y1 = b.y + node_height / 2 - 8
    const start = right ? a.x + node_width : a.x
    const end = right ? b.x + node_width + 2 : b.x - 2
    const turn = right ? -10 : 10
    const d = `M${start} ${y0}H${way + turn}Q${way} ${y0} ${way} ${y0 + 10}V${y1 - 10}Q${way} ${y1} ${way + turn} ${y1}H${end}`
    return { ...edge, d, label, label_x: way, label_y: (y0 + y1) / 2, centred: true }
  })
  const ranks = Math.max(0, ...nodes.map((node) => node.y))
  return { width: inner_right + margin, height: 20 + ranks * rank_height + node_height + 20, place, paths }
}
