// SPDX-License-Identifier: Apache-2.0
// JSON as a tree that opens: large lists in parts, nothing built before it is opened.
import { useState } from 'react'
import { useText } from '../i18n'
import './preview.css'

const part = 100
const open_to = 2

export function JsonTree({ value }: { value: unknown }) {
  return <ul className="jt mono" lang="en"><Node name={undefined} value={value} depth={0} /></ul>
}

function Node({ name, value, depth }: { name: string | undefined; value: unknown; depth: number }) {
  const { t } = useText()
  const [shown, set_shown] = useState(part)
  const entries = value !== null && typeof value === 'object' ? Object.entries(value) : undefined
  const [open, set_open] = useState(depth < open_to && (entries?.length ?? 0) <= part)
  const label = name === undefined ? null : <span className="m">{name}: </span>
  if (!entries) return <li>{label}<span className={typeof value === 'string' ? 't-green wrap-any' : 't-blue'}>{JSON.stringify(value) ?? 'undefined'}</span></li>
  const size = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`
  return (
    <li>
      <button type="button" className="jt-open" aria-expanded={open} onClick={() => set_open(!open)}><i aria-hidden="true">{open ? '▾' : '▸'}</i> {label}<span className="f">{size}</span></button>
      {open && (
        <ul>
          {entries.slice(0, shown).map(([key, item]) => <Node key={key} name={key} value={item} depth={depth + 1} />)}
          {entries.length > shown && <li><button type="button" className="linkish" onClick={() => set_shown(shown + part * 5)}>{t('and_more', { n: entries.length - shown })}</button></li>}
        </ul>
      )}
    </li>
  )
}
