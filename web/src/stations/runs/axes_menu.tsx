// SPDX-License-Identifier: Apache-2.0
// Choosing which columns stand as axes.
import { useState } from 'react'
import type { Run } from '../../api/runs'
import { useText } from '../../i18n'
import { Dialog } from '../../ui/dialog'
import { Button } from '../../ui/parts'
import { comparable_names } from './compare_model'

const listed_most = 200

export function AxesMenu({ runs, chosen, onChoose }: { runs: Run[]; chosen: string[]; onChoose: (names: string[]) => void }) {
  const { t } = useText()
  const [open, set_open] = useState(false)
  const [find, set_find] = useState('')
  const names = open ? comparable_names(runs).filter((name) => name.toLowerCase().includes(find.toLowerCase())) : []
  const toggle = (name: string) => onChoose(chosen.includes(name) ? chosen.filter((other) => other !== name) : [...chosen, name])
  return (
    <>
      <Button small icon="cols" onClick={() => set_open(true)}>{t('compare.axes')}</Button>
      {open && (
        <Dialog title={t('compare.axes')} onClose={() => set_open(false)}>
          <input className="inp wide-inp" autoFocus value={find} placeholder={t('runs.columns.find')} aria-label={t('runs.columns.find')} onChange={(event) => set_find(event.target.value)} />
          <ul className="colist">
            {names.slice(0, listed_most).map((name) => (
              <li key={name}><label className="row grow"><input type="checkbox" checked={chosen.includes(name)} onChange={() => toggle(name)} /><span className="mono grow">{name}</span></label></li>
            ))}
          </ul>
          <div className="row dlg-row"><span className="grow" /><Button kind="primary" onClick={() => set_open(false)}>{t('close')}</Button></div>
        </Dialog>
      )}
    </>
  )
}
