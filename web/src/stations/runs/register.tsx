// SPDX-License-Identifier: Apache-2.0
// Registering a run's model as the next version of a model.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { ApiError } from '../../api/client'
import { models_query, register_version } from '../../api/models'
import { artifacts_query, type RunDetail } from '../../api/runs'
import { useBase, useProject, useShell } from '../../app/context'
import { useText } from '../../i18n'
import { Button } from '../../ui/parts'
import { Dialog } from '../../ui/dialog'

export function RegisterDialog({ run, onClose }: { run: RunDetail; onClose: () => void }) {
  const { t } = useText()
  const project = useProject()
  const base = useBase()
  const queries = useQueryClient()
  const { toast } = useShell()
  const [, navigate] = useLocation()
  const models = useQuery(models_query(project))
  const artifacts = useQuery(artifacts_query(project, run.id, ''))
  const [name, set_name] = useState('')
  const [folder, set_folder] = useState<string>()
  const [error, set_error] = useState<string>()
  const places = artifacts.data?.map((item) => item.path) ?? []
  const chosen = folder ?? places.find((place) => /model/i.test(place)) ?? places[0] ?? ''
  const act = async () => {
    set_error(undefined)
    try {
      const version = await register_version(project, name.trim(), run.id, chosen)
      await queries.invalidateQueries({ queryKey: ['models'] })
      toast(t('run.registered', { name: `${version.name}@${version.version}` }))
      onClose()
      navigate(`${base}/models/${encodeURIComponent(version.name)}@${version.version}`)
    } catch (failure) {
      set_error(failure instanceof ApiError ? [failure.message, failure.hint].filter(Boolean).join(' ') : String(failure))
    }
  }
  return (
    <Dialog title={t('run.register.title', { name: run.name || run.id.slice(0, 8) })} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void act()
        }}
      >
        <label className="fld"><h3>{t('run.register.model')}</h3><input className="inp wide-inp" list="known-models" value={name} autoFocus required onChange={(event) => set_name(event.target.value)} /></label>
        <datalist id="known-models">{(models.data ?? []).map((model) => <option key={model.name} value={model.name} />)}</datalist>
        <label className="fld"><h3>{t('run.register.path')}</h3>
          <select className="inp wide-inp" value={chosen} onChange={(event) => set_folder(event.target.value)}>
            {places.map((place) => <option key={place} value={place}>{place}</option>)}
          </select>
        </label>
        {error && <p className="t-red dlg-error" role="alert">{error}</p>}
        <div className="row dlg-row">
          <span className="grow" />
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" kind="primary" disabled={!name.trim() || !chosen}>{t('run.register')}</Button>
        </div>
      </form>
    </Dialog>
  )
}
