// SPDX-License-Identifier: Apache-2.0
// Small parts that every page is made of: buttons, panels, facts, choices, sparklines.
import { useCallback, useId, useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import { useText } from '../i18n'
import { useFormat, to_ms } from '../lib/format'
import { useNow } from '../lib/now'
import { Icon, type IconName } from './icon'

type ButtonKind = 'primary' | 'approve' | 'danger' | 'plain' | 'quiet'
const class_of_kind: Record<ButtonKind, string> = { primary: 'p', approve: 'v', danger: 'd', plain: '', quiet: 'q' }

export function Button(props: {
  children: ReactNode
  kind?: ButtonKind
  small?: boolean
  icon?: IconName
  locked?: string
  busy?: boolean
  disabled?: boolean
  className?: string
  type?: 'button' | 'submit'
  label?: string
  id?: string
  onClick?: () => void
}) {
  const { kind = 'plain', locked } = props
  return (
    <button
      type={props.type ?? 'button'}
      id={props.id}
      className={`btn ${class_of_kind[kind]} ${props.small ? 's' : ''} ${props.className ?? ''}`}
      disabled={Boolean(locked) || props.disabled || props.busy}
      aria-busy={props.busy || undefined}
      aria-label={props.label}
      title={locked}
      onClick={props.onClick}
    >
      {locked ? <Icon name="lock" size={14} /> : props.icon ? <Icon name={props.icon} /> : null}
      {props.children}
    </button>
  )
}

export function ButtonLink({ to, children, kind = 'plain', small }: { to: string; children: ReactNode; kind?: ButtonKind; small?: boolean }) {
  return (
    <Link href={to} className={`btn ${class_of_kind[kind]} ${small ? 's' : ''}`}>
      {children}
    </Link>
  )
}

export function Panel(props: { title?: ReactNode; sub?: ReactNode; side?: ReactNode; children?: ReactNode; className?: string; label?: string; flush?: boolean }) {
  const id = useId()
  return (
    <section className={`panel ${props.className ?? ''}`} aria-labelledby={props.title && !props.label ? id : undefined} aria-label={props.label}>
      {(props.title || props.side) && (
        <div className="ph">
          {props.title && <h2 id={id}>{props.title}</h2>}
          {props.sub && <span className="f">{props.sub}</span>}
          {props.side && <span className="side">{props.side}</span>}
        </div>
      )}
      {props.flush ? props.children : <div className="pb">{props.children}</div>}
    </section>
  )
}

export function Facts({ items }: { items: [ReactNode, ReactNode][] }) {
  return (
    <dl className="kv">
      {items.map(([name, value], index) => (
        <div className="kvr" key={index}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

export function Segments<T extends string>({ options, value, onChange, label }: {
  options: [T, ReactNode][]
  value: T
  onChange: (value: T) => void
  label: string
}) {
  return (
    <span className="seg" role="group" aria-label={label}>
      {options.map(([option, word]) => (
        <button key={option} type="button" aria-pressed={option === value} onClick={() => onChange(option)}>
          {word}
        </button>
      ))}
    </span>
  )
}

export function Tabs<T extends string>({ options, value, onChange, label }: {
  options: [T, ReactNode][]
  value: T
  onChange: (value: T) => void
  label: string
}) {
  return (
    <div className="tabs" role="tablist" aria-label={label}>
      {options.map(([option, word]) => (
        <button
          key={option}
          type="button"
          role="tab"
          aria-selected={option === value}
          tabIndex={option === value ? 0 : -1}
          onClick={() => onChange(option)}
          onKeyDown={(event) => {
            const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
            if (!step) return
            const index = options.findIndex(([name]) => name === option)
            const next = options[(index + step + options.length) % options.length]
            if (!next) return
            event.preventDefault()
            onChange(next[0])
            const tabs = event.currentTarget.parentElement?.querySelectorAll<HTMLElement>('[role=tab]')
            tabs?.[(index + step + options.length) % options.length]?.focus()
          }}
        >
          {word}
        </button>
      ))}
    </div>
  )
}

const day_ms = 86_400_000

/** A time in few words, with the full one on hover. */
export function Time({ at, form = 'ago' }: { at: string | number | null | undefined; form?: 'ago' | 'clock' | 'hour' | 'age' }) {
  const format = useFormat()
  const now = useNow()
  const ms = to_ms(at)
  if (ms === undefined) return <span className="f">–</span>
  const text = form === 'clock' && now - ms < day_ms ? format.clock(ms) : form === 'hour' ? format.hour(ms) : form === 'age' ? format.span(now - ms) : format.ago(ms, now)
  return (
    <time dateTime={new Date(ms).toISOString()} title={format.absolute(ms)} className="nw">
      {text}
    </time>
  )
}

export function Copy({ text, label }: { text: string; label?: string }) {
  const { t } = useText()
  const [done, set_done] = useState(false)
  const copy = useCallback(() => {
    void copy_text(text).then(() => {
      set_done(true)
      setTimeout(() => set_done(false), 1500)
    })
  }, [text])
  return (
    <button type="button" className="icb" title={done ? t('copy.done') : (label ?? t('copy'))} aria-label={label ?? t('copy')} onClick={copy}>
      {done ? <svg className="g t-green" width="14" height="14" viewBox="0 0 16 16" aria-hidden="true"><use href="#g-ok" /></svg> : <Icon name="copy" size={14} />}
    </button>
  )
}

export async function copy_text(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    // Without a secure context there is no clipboard API: select and copy by hand.
    const area = document.createElement('textarea')
    area.value = text
    document.body.append(area)
    area.select()
    document.execCommand('copy')
    area.remove()
  }
}

/** Short digests with the whole one on hover. */
export function Digest({ value, length = 8 }: { value: string | null | undefined; length?: number }) {
  if (!value) return <span className="f">–</span>
  return (
    <span className="mono" title={value}>
      {value.slice(0, length)}
    </span>
  )
}

/** Stretches of known values; what is unknown stays a gap. */
function runs_of(values: (number | null)[]): [number, number][][] {
  const runs: [number, number][][] = []
  let open = false
  values.forEach((value, index) => {
    if (value === null || !Number.isFinite(value)) {
      open = false
      return
    }
    if (open) runs[runs.length - 1]!.push([index, value])
    else runs.push([[index, value]])
    open = true
  })
  return runs
}

export function Spark({ values, width = 110, height = 20, fill = false, stroke = 'var(--text-2)' }: {
  values: (number | null)[]
  width?: number
  height?: number
  fill?: boolean
  stroke?: string
}) {
  const known = values.filter((value): value is number => value !== null && Number.isFinite(value))
  if (known.length < 2) return <svg width={width} height={height} aria-hidden="true" />
  const low = fill ? 0 : Math.min(...known)
  const high = Math.max(...known)
  const reach = high - low || 1
  const x_of = (index: number) => (index / (values.length - 1)) * (width - 2) + 1
  const runs = runs_of(values)
  const path_of = (run: [number, number][]) => `M${run.map(([index, value]) => `${x_of(index).toFixed(1)} ${(height - 2 - ((value - low) / reach) * (height - 4)).toFixed(1)}`).join('L')}`
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      {runs.map((run, index) => (
        <g key={index}>
          {fill && <path d={`${path_of(run)}L${x_of(run[run.length - 1]![0])} ${height}L${x_of(run[0]![0])} ${height}Z`} fill={stroke} opacity=".13" />}
          <path d={path_of(run)} fill="none" stroke={stroke} strokeWidth="1.5" strokeLinejoin="round" strokeLinecap="round" />
        </g>
      ))}
    </svg>
  )
}

export function Bars({ values, height = 17 }: { values: number[]; height?: number }) {
  const most = Math.max(1, ...values)
  return (
    <div className="bars" aria-hidden="true">
      {values.map((value, index) => (
        <i key={index} className={index === values.length - 1 ? 'now' : ''} style={{ height: Math.max(1, Math.round((value / most) * height)) }} />
      ))}
    </div>
  )
}

export function Crumbs({ items }: { items: [string, string?][] }) {
  const { t } = useText()
  return (
    <nav className="crumbs" aria-label={t('crumbs')}>
      {items.map(([word, to], index) => (
        <span className="row crumb" key={index}>
          {index > 0 && <Icon name="right" size={12} />}
          {to ? <Link href={to}>{word}</Link> : <span>{word}</span>}
        </span>
      ))}
    </nav>
  )
}

export function Head({ title, pill, sub, children }: { title: ReactNode; pill?: ReactNode; sub?: ReactNode; children?: ReactNode }) {
  return (
    <div className="head">
      <h1>{title}</h1>
      {pill}
      {sub && <span className="sub">{sub}</span>}
      {children && <span className="acts">{children}</span>}
    </div>
  )
}

export function Meter({ share, tone }: { share: number; tone?: 'red' | 'amber' }) {
  return (
    <u className="meter">
      <i style={{ width: `${Math.min(100, Math.max(0, share * 100))}%`, background: tone ? `var(--${tone})` : undefined }} />
    </u>
  )
}
