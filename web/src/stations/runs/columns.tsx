// SPDX-License-Identifier: Apache-2.0
// Choosing columns from what runs have, with how many have each.
import { useState } from 'react'
import type { RunColumn } from '../../api/runs'
import { useText } from '../../i18n'
import { Button, Meter } from '../../ui/parts'
import { Dialog } from '../../ui/dialog'

export function ColumnsDialog({ columns, total, chosen, onChoose, onClose }: {
  columns: RunColumn[]
  total: number
  chosen: string[]
  onChoose: (names: string[]) => void
  onClose: () => void
}) {
  const { t } = useText()
  const [text, set_text] = useState('')
  const wanted = text.toLowerCase()
  const found = columns.filter((column) => column.name.toLowerCase().includes(wanted))
  const kinds = (['metric', 'param', 'tag'] as const).filter((kind) => columns.some((column) => column.kind === kind))
  const has_all = (kind: RunColumn['kind']) => columns.every((column) => column.kind !== kind || chosen.includes(column.name))
  // All of a kind is one word in the address, however many there are.
  const toggle_all = (kind: RunColumn['kind']) => {
    const others = chosen.filter((name) => !name.startsWith(`${kind}s.`))
    onChoose(has_all(kind) ? others : [...others, `${kind}s.*`])
  }
  const toggle = (name: string) => onChoose(chosen.includes(name) ? chosen.filter((other) => other !== name) : [...chosen, name])
  return (
    <Dialog title={t('runs.columns')} onClose={onClose}>
      <input className="inp wide-inp" autoFocus value={text} placeholder={t('runs.columns.find')} aria-label={t('runs.columns.find')} onChange={(event) => set_text(event.target.value)} />
      <p className="row wrap col-all">
        {kinds.map((kind) => <label key={kind} className="ctl"><input type="checkbox" checked={has_all(kind)} onChange={() => toggle_all(kind)} />{t(`runs.columns.all.${kind}`)}</label>)}
      </p>
      <ul className="colist">
        {found.slice(0, 300).map((column) => (
          <li key={column.name}>
            <label className="row grow">
              <input type="checkbox" checked={chosen.includes(column.name)} onChange={() => toggle(column.name)} />
              <span className="mono grow">{column.key}</span>
              <span className="f">{t(`runs.kind.${column.kind}`)}</span>
              <span className="fill-rate"><Meter share={total ? column.runs / total : 0} /></span>
              <span className="num f fill-n">{t('runs.fill', { n: column.runs, all: total })}</span>
            </label>
          </li>
        ))}
      </ul>
      <div className="row dlg-row">
        <span className="grow" />
        <Button kind="primary" onClick={onClose}>{t('close')}</Button>
      </div>
    </Dialog>
  )
}
