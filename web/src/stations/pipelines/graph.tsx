// SPDX-License-Identifier: Apache-2.0
// The graph of a run, drawn at the server's places, and its twin as a list. Arrow keys walk, Enter opens.
import { useMemo, useRef, useState } from 'react'
import type { PipelineNode, PipelineRun } from '../../api/pipelines'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { useNow } from '../../lib/now'
import { Glyph } from '../../ui/icon'
import { glyph_of, StatusText, useStateWord } from '../../ui/status'
import { draw, node_height, node_span_ms, node_width, result_of } from './model'

export function RunGraph({ run, chosen, onChoose }: { run: PipelineRun; chosen: string | undefined; onChoose: (node: string) => void }) {
  const { t } = useText()
  const format = useFormat()
  const now = useNow()
  const say = useStateWord()
  const nodes = run.nodes ?? []
  const shape = JSON.stringify([nodes.map((node) => [node.name, node.x, node.y]), run.edges])
  const drawing = useMemo(() => draw(nodes, run.edges ?? []), [shape])
  const [scale, set_scale] = useState(1)
  const box = useRef<HTMLDivElement>(null)
  const walk = (from: string, key: string) => {
    const here = drawing.place.get(from)
    if (!here) return
    const step: Record<string, (p: { x: number; y: number }) => boolean> = {
      ArrowDown: (p) => p.y > here.y, ArrowUp: (p) => p.y < here.y, ArrowRight: (p) => p.x > here.x && p.y === here.y, ArrowLeft: (p) => p.x < here.x && p.y === here.y,
    }
    const fits = step[key]
    if (!fits) return
    const next = [...drawing.place].filter(([, p]) => fits(p)).sort(([, a], [, b]) => Math.hypot(a.x - here.x, a.y - here.y) - Math.hypot(b.x - here.x, b.y - here.y))[0]
    if (next) box.current?.querySelector<HTMLElement>(`[data-node="${CSS.escape(next[0])}"]`)?.focus()
  }
  const fit = () => {
    const width = box.current?.clientWidth ?? drawing.width
    const height = box.current?.clientHeight ?? drawing.height
    set_scale(Math.min(1, width / drawing.width, height / drawing.height))
  }
  return (
    <>
      <div className="dag-zoom seg" role="group" aria-label={t('pipeline.zoom')}>
        <button type="button" aria-label={t('pipeline.zoom.out')} onClick={() => set_scale(Math.max(0.3, scale - 0.15))}>−</button>
        <button type="button" onClick={fit}>{t('pipeline.fit')}</button>
        <button type="button" aria-label={t('pipeline.zoom.in')} onClick={() => set_scale(Math.min(1.6, scale + 0.15))}>+</button>
      </div>
      <div className="dag" ref={box} tabIndex={-1}>
        <div className="in" style={{ width: drawing.width * scale, height: drawing.height * scale }}>
          <div className="sc" style={{ width: drawing.width, height: drawing.height, transform: `scale(${scale})` }}>
            <svg className="e" width={drawing.width} height={drawing.height} aria-hidden="true">
              <defs>
                <marker id="ah" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 .5 7 4 0 7.5z" fill="var(--line-strong)" /></marker>
              </defs>
              <g fill="none" strokeWidth="1.5">
                {drawing.paths.map((path) => {
                  const waits = nodes.find((node) => node.name === path.to)?.state === 'waiting-approval'
                  return <path key={`${path.from}/${path.to}`} d={path.d} stroke={waits ? 'var(--violet)' : 'var(--line-strong)'} strokeDasharray={waits ? '4 4' : undefined} markerEnd="url(#ah)" />
                })}
              </g>
            </svg>
            {nodes.map((node) => {
              const place = drawing.place.get(node.name)!
              const span = node_span_ms(node, now)
              const waits = node.state === 'waiting-approval'
              const age = waits && node.approve?.asked_at ? now - Date.parse(node.approve.asked_at) : undefined
              const line = result_of(node)
              return (
                <button
                  key={node.name}
                  type="button"
                  data-node={node.name}
                  className={`nd ${waits ? 'waits' : ''} ${node.state === 'failed' || node.state === 'rejected' ? 'failed' : ''} ${node.name === chosen ? 'sel' : ''}`}
                  style={{ left: place.x, top: place.y, width: node_width, height: node_height }}
                  aria-pressed={node.name === chosen}
                  title={node.reason || undefined}
                  onClick={() => onChoose(node.name)}
                  onKeyDown={(event) => {
                    if (event.key.startsWith('Arrow')) {
                      event.preventDefault()
                      walk(node.name, event.key)
                    }
                  }}
                >
                  <Glyph name={glyph_of(node.state)} label={say(node.state)} />
                  <span className="nt">
                    <b>{node.name}</b>
                    <span>{line}</span>
                  </span>
                  <em>{node.state === 'cached' ? '' : age !== undefined ? format.span(age) : span === undefined ? '' : format.duration(span)}</em>
                </button>
              )
            })}
            {drawing.paths.filter((path) => path.label).map((path) => (
              <span key={`${path.from}/${path.to}`} className={`el ${path.centred ? 'mid' : ''}`} style={{ left: path.label_x, top: path.label_y }}>{path.label}</span>
            ))}
          </div>
        </div>
      </div>
    </>
  )
}

export function RunList({ run, chosen, onChoose }: { run: PipelineRun; chosen: string | undefined; onChoose: (node: string) => void }) {
  const { t } = useText()
  const format = useFormat()
  const now = useNow()
  return (
    <div className="scroll">
      <table aria-label={t('pipeline.nodes')}>
        <thead>
          <tr><th>{t('pipeline.node')}</th><th>{t('state')}</th><th>{t('pipeline.action')}</th><th>{t('pipeline.needs')}</th><th>{t('jobs.result')}</th><th className="r">{t('took')}</th></tr>
        </thead>
        <tbody>
          {(run.nodes ?? []).map((node: PipelineNode) => (
            <tr key={node.name} className={`go ${node.name === chosen ? 'sel' : ''}`} onClick={() => onChoose(node.name)}>
              <td><button type="button" className="linkish b" onClick={() => onChoose(node.name)}>{node.name}</button></td>
              <td><StatusText state={node.state} /></td>
              <td className="m">{node.action}</td>
              <td className="m">{node.needs.join(', ') || '–'}</td>
              <td className="clip m">{result_of(node)}</td>
              <td className="r num">{format.duration(node_span_ms(node, now))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
