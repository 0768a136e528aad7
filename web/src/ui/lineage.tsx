// SPDX-License-Identifier: Apache-2.0
// Lineage of one thing: as a strip of at most six stops, as a graph, and as the list that is the graph's twin.
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState, type ReactNode } from 'react'
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
const place_of_kind = ['dataset', 'code', 'environment', 'job', 'run', 'artifact', 'model', 'revision', 'service']

export function stops_of_graph(graph: LineageGraph, me: Stop, project: string, say: (kind: string) => string): Stop[] {
  const line_place = (node: Node) => place_of_kind.indexOf(parse_ref(node.ref).kind)
  const useful = graph.nodes.filter((node) => node.depth !== 0 && line_place(node) >= 0)
  const origins = useful.filter((node) => node.depth < 0).sort((a, b) => b.depth - a.depth || line_place(b) - line_place(a)).slice(0, 3)
  const results = useful.filter((node) => node.depth > 0).sort((a, b) => a.depth - b.depth || line_place(a) - line_place(b)).slice(0, 5 - origins.length)
  const stop = (node: Node): Stop => {
    const { kind } = parse_ref(node.ref)
    return { icon: icon_of(kind), name: short_ref(node.ref), fact: say(kind), to: path_of_ref(project, node.ref) }
  }
  return [...origins.sort((a, b) => a.depth - b.depth || line_place(a) - line_place(b)).map(stop), me, ...results.map(stop)]
}

export function LineageStripOf({ subject, me }: { subject: string; me: Stop }) {
  const project = useProject()
  const say = useKindWord()
  const graph = useQuery(lineage_query(project, subject, 4))
  const stops = useMemo(() => (graph.data ? stops_of_graph(graph.data, me, project, say) : [me]), [graph.data, me, project, say])
  return <LineageStrip stops={stops} />
}

const node_width = 158
const node_height = 42
const gap_x = 54
const gap_y = 12
/** More than this is folded to the nearest ones, with the count said. */
export const drawn_nodes = 40

export function LineagePanel({ subject, depth, title, sub, fact }: { subject: string; depth?: number; title?: string; sub?: string; fact?: (ref: string) => string | undefined }) {
  const { t } = useText()
  const project = useProject()
  const [view, set_view] = useState<'graph' | 'list'>('graph')
  const graph = useQuery(lineage_query(project, subject, depth))
  return (
    <section className="panel" aria-label={title ?? t('lineage')}>
      <div className="ph">
        <h2>{title ?? t('lineage')}</h2>
        <span className="f">{sub}</span>
        <span className="side">
          <Segments label={t('lineage.view')} value={view} onChange={set_view} options={[['graph', t('graph')], ['list', t('list')]]} />
        </span>
      </div>
      {graph.data ? (
        view === 'graph' ? <LineageDrawing graph={graph.data} subject={subject} fact={fact} /> : <LineageList graph={graph.data} />
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
    return { placed, links: links.filter(([from, to]) => ids.includes(from) && ids.includes(to)) }
  }, [graph])
  const { placed, links } = drawing
  const at = new Map(placed.nodes.map((node) => [node.id, { x: node.rank * (node_width + gap_x), y: node.row * (node_height + gap_y) }]))
  const width = placed.ranks * (node_width + gap_x) - gap_x
  const height = placed.rows * (node_height + gap_y) - gap_y
  const depth_zero = graph.nodes.find((node) => node.depth === 0)?.ref ?? subject
  return (
    <div className="scroll lin-scroll" tabIndex={0} role="group" aria-label={t('lineage.graph')}>
      <div className="lin" style={{ width, height }}>
        <svg className="e" width={width} height={height} aria-hidden="true">
          {links.map(([from, to], index) => {
            const a = at.get(from)!
            const b = at.get(to)!
            const x0 = a.x + node_width
            const y0 = a.y + node_height / 2
            const y1 = b.y + node_height / 2
            const bend = Math.max(18, Math.min(40, (b.x - x0) / 2))
            return <path key={index} d={`M${x0} ${y0}C${x0 + bend} ${y0} ${b.x - bend} ${y1} ${b.x} ${y1}`} fill="none" stroke="var(--line-strong)" strokeWidth="1.5" />
          })}
        </svg>
        {placed.nodes.map((node) => {
          const { kind } = parse_ref(node.id)
          const place = at.get(node.id)!
          const me = node.id === depth_zero
          return (
            <NodeBox key={node.id} to={me ? undefined : path_of_ref(project, node.id)} className={`nd ${me ? 'me' : ''}`} x={place.x} y={place.y} title={node.id}>
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

function NodeBox({ to, className, x, y, title, children }: { to: string | undefined; className: string; x: number; y: number; title: string; children: ReactNode }) {
  const style = { left: x, top: y, width: node_width }
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
  const { t } = useText()
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
              <td className="m">{edge.relation}</td>
              <td><span className="row"><Icon name={icon_of(parse_ref(edge.to).kind)} size={14} /> {link(edge.to)} <span className="f">{say(parse_ref(edge.to).kind)}</span></span></td>
              <td className="r m"><Time at={edge.time_at} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
