// SPDX-License-Identifier: Apache-2.0
// Lineage of one thing: as a strip of at most six stops, as a graph, and as the list that is the graph's twin.
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import { lineage_query, type LineageGraph } from '../api/spine'
import { useProject } from '../app/context'
import { useText } from '../i18n'
import { place_in_layers } from '../lib/layers'
import { parse_ref, path_of_ref, short_ref } from '../lib/url'
import { Icon, icon_of } from './icon'
import { Segments, Time } from './parts'
import { Failure, Skeleton } from './states'
import { LineageStrip, type Stop } from './strip'

export type Node = LineageGraph['nodes'][number]

export function useKindWord(): (kind: string) => string {
  const { t, has } = useText()
  return (kind) => {
    const key = `kind.${kind}`
    return has(key) ? (t as (key: string) => string)(key) : kind
  }
}

/** The order of the line, so that data stands before jobs and models before services. */
const place_of_kind = ['dataset', 'code', 'environment', 'job', 'run', 'model', 'revision', 'service']

export function stops_of_graph(graph: LineageGraph, me: Stop, project: string, say: (kind: string) => string): Stop[] {
  const kind_of = (node: Node) => parse_ref(node.ref).kind
  const useful = graph.nodes.filter((node) => node.depth !== 0 && place_of_kind.includes(kind_of(node)))
  // One stop a kind, the nearest thing of it; how many more there are stands beside its fact.
  const side = (sign: number) => {
    const kinds = new Map<string, Node[]>()
    for (const node of useful.filter((node) => node.depth * sign > 0).sort((a, b) => Math.abs(a.depth) - Math.abs(b.depth))) kinds.set(kind_of(node), [...(kinds.get(kind_of(node)) ?? []), node])
    return [...kinds.values()]
  }
  const in_line = (a: Node[], b: Node[]) => place_of_kind.indexOf(kind_of(a[0]!)) - place_of_kind.indexOf(kind_of(b[0]!))
  const origins = side(-1).slice(0, 3).sort(in_line)
  const results = side(1).slice(0, 5 - origins.length).sort(in_line)
  const stop = (nodes: Node[]): Stop => {
    const node = nodes[0]!
    const more = nodes.length > 1 ? ` +${nodes.length - 1}` : ''
    return { icon: icon_of(kind_of(node)), name: short_ref(node.ref) + more, fact: say(kind_of(node)), to: path_of_ref(project, node.ref) }
  }
  return [...origins.map(stop), me, ...results.map(stop)]
}

export function LineageStripOf({ subject, me }: { subject: string; me: Stop }) {
  const project = useProject()
  const say = useKindWord()
  const graph = useQuery(lineage_query(project, subject, 4))
  const stops = useMemo(() => (graph.data ? stops_of_graph(graph.data, me, project, say) : [me]), [graph.data, me, project, say])
  return <LineageStrip stops={stops} />
}

const node_height = 42
const gap_y = 12
const padding = 32
/** More than this is folded to the nearest ones, with the count said. */
export const drawn_nodes = 40

/** The order that pipelines bring is not what a thing is made of: pages of things leave it out, `why` shows it. */
const context_kinds = new Set(['pipeline', 'pipeline-run', 'node'])

function without_context(graph: LineageGraph): LineageGraph {
  const kept = (ref: string) => !context_kinds.has(parse_ref(ref).kind)
  return { nodes: graph.nodes.filter((node) => kept(node.ref)), edges: graph.edges.filter((edge) => kept(edge.from) && kept(edge.to)) }
}

export function LineagePanel({ subject, depth, title, sub, fact }: { subject: string; depth?: number; title?: string; sub?: string; fact?: (ref: string) => string | undefined }) {
  const { t } = useText()
  const project = useProject()
  const [view, set_view] = useState<'graph' | 'list'>('graph')
  const graph = useQuery(lineage_query(project, subject, depth))
  const drawn = useMemo(() => graph.data && without_context(graph.data), [graph.data])
  return (
    <section className="panel" aria-label={title ?? t('lineage')}>
      <div className="ph">
        <h2>{title ?? t('lineage')}</h2>
        <span className="f">{sub}</span>
        <span className="side">
          <Segments label={t('lineage.view')} value={view} onChange={set_view} options={[['graph', t('graph')], ['list', t('list')]]} />
        </span>
      </div>
      {graph.data && drawn ? (
        view === 'graph' ? <LineageDrawing graph={drawn} subject={subject} fact={fact} /> : <LineageList graph={graph.data} />
      ) : graph.isError ? (
        <Failure what={t('lineage.error')} error={graph.error} retry={() => void graph.refetch()} />
      ) : (
        <Skeleton rows={3} />
      )}
    </section>
  )
}

export function LineageDrawing({ graph, subject, fact }: { graph: LineageGraph; subject: string; fact?: (ref: string) => string | undefined }) {
  const { t } = useText()
  const project = useProject()
  const say = useKindWord()
  const drawing = useMemo(() => {
    const near = [...graph.nodes].sort((a, b) => Math.abs(a.depth) - Math.abs(b.depth)).slice(0, drawn_nodes)
    const ids = near.sort((a, b) => a.depth - b.depth).map((node) => node.ref)
    const links = graph.edges.map((edge): [string, string] => [edge.to, edge.from])
    const placed = place_in_layers(ids, links)
    return { placed }
  }, [graph])
  const { placed } = drawing
  const [room, set_room] = useState(1100)
  const [box, set_box] = useState<HTMLDivElement | null>(null)
  useEffect(() => {
    if (!box) return
    const observer = new ResizeObserver(() => set_room(box.clientWidth - padding))
    observer.observe(box)
    return () => observer.disconnect()
  }, [box])
  // Nodes take the room there is, between 112 and 176 px; below that the drawing scrolls.
  const gap_x = placed.ranks > 7 ? 26 : placed.ranks > 5 ? 34 : 52
  const node_width = Math.max(112, Math.min(176, (room - (placed.ranks - 1) * gap_x) / Math.max(1, placed.ranks)))
  const at = new Map(placed.nodes.map((node) => [node.id, { x: node.rank * (node_width + gap_x), y: node.row * (node_height + gap_y) }]))
  const width = placed.ranks * (node_width + gap_x) - gap_x
  const height = placed.rows * (node_height + gap_y) - gap_y
  const own_x = at.get(graph.nodes.find((node) => node.depth === 0)?.ref ?? subject)?.x
  useEffect(() => {
    // A drawing wider than its panel opens at the thing asked about.
    if (box && own_x !== undefined && box.scrollWidth > box.clientWidth) box.scrollLeft = own_x - box.clientWidth / 2
  }, [box, own_x])
  const depth_zero = graph.nodes.find((node) => node.depth === 0)?.ref ?? subject
  return (
    <div className="scroll lin-scroll" ref={set_box} tabIndex={0} role="group" aria-label={t('lineage.graph')}>
      <div className="lin" style={{ width, height }}>
        <svg className="e" width={width} height={height} aria-hidden="true">
          {placed.routes.map((route, index) => (
            <path key={index} d={curve_through(route.map((id) => at.get(id)!), node_width)} fill="none" stroke="var(--line-strong)" strokeWidth="1.5" />
          ))}
        </svg>
        {placed.nodes.filter((node) => !node.is_bend).map((node) => {
          const { kind } = parse_ref(node.id)
          const place = at.get(node.id)!
          const me = node.id === depth_zero
          return (
            <NodeBox key={node.id} to={me ? undefined : path_of_ref(project, node.id)} className={`nd ${me ? 'me' : ''}`} x={place.x} y={place.y} width={node_width} title={node.id}>
              <Icon name={icon_of(kind)} />
              <span>
                <b>{short_ref(node.id)}</b>
                <span>{fact?.(node.id) ?? say(kind)}</span>
              </span>
            </NodeBox>
          )
        })}
      </div>
      {graph.nodes.length > drawn_nodes && <p className="f lin-more">{t('lineage.folded', { shown: drawn_nodes, all: graph.nodes.length })}</p>}
    </div>
  )
}

/** From the right side of the first box through the bends to the left side of the last. */
function curve_through(points: { x: number; y: number }[], node_width: number): string {
  const middle = (point: { y: number }) => point.y + node_height / 2
  let d = `M${points[0]!.x + node_width} ${middle(points[0]!)}`
  for (let index = 1; index < points.length; index++) {
    const from = points[index - 1]!
    const to = points[index]!
    const x0 = from.x + node_width
    const bend = Math.max(14, (to.x - x0) / 2)
    d += `C${x0 + bend} ${middle(from)} ${to.x - bend} ${middle(to)} ${to.x} ${middle(to)}`
    if (index < points.length - 1) d += `H${to.x + node_width}`
  }
  return d
}

function NodeBox({ to, className, x, y, width, title, children }: { to: string | undefined; className: string; x: number; y: number; width: number; title: string; children: ReactNode }) {
  const style = { left: x, top: y, width }
  return to ? (
    <Link href={to} className={className} style={style} title={title}>
      {children}
    </Link>
  ) : (
    <span className={className} style={style} title={title}>
      {children}
    </span>
  )
}

export function LineageList({ graph }: { graph: LineageGraph }) {
  const { t, has } = useText()
  const relation = (word: string) => {
    const key = `relation.${word}`
    return has(key) ? (t as (key: string) => string)(key) : word
  }
  const project = useProject()
  const say = useKindWord()
  const link = (ref: string) => {
    const to = path_of_ref(project, ref)
    return to ? <Link href={to}>{short_ref(ref)}</Link> : short_ref(ref)
  }
  return (
    <div className="scroll">
      <table aria-label={t('lineage')}>
        <thead>
          <tr>
            <th>{t('lineage.result')}</th>
            <th>{t('lineage.relation')}</th>
            <th>{t('lineage.origin')}</th>
            <th className="r">{t('time')}</th>
          </tr>
        </thead>
        <tbody>
          {graph.edges.map((edge, index) => (
            <tr key={index}>
              <td><span className="row"><Icon name={icon_of(parse_ref(edge.from).kind)} size={14} /> {link(edge.from)} <span className="f">{say(parse_ref(edge.from).kind)}</span></span></td>
              <td className="m">{relation(edge.relation)}</td>
              <td><span className="row"><Icon name={icon_of(parse_ref(edge.to).kind)} size={14} /> {link(edge.to)} <span className="f">{say(parse_ref(edge.to).kind)}</span></span></td>
              <td className="r m"><Time at={edge.time_at} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
