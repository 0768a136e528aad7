// SPDX-License-Identifier: Apache-2.0
// What a run would do now, node by node, before anything starts.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { plan_pipeline, start_run } from '../../api/pipelines'
import { useBase, useProject } from '../../app/context'
import { useText } from '../../i18n'
import { Button } from '../../ui/parts'
import { Dialog } from '../../ui/dialog'
import { Loaded } from '../../ui/states'
import { StatusText } from '../../ui/status'

export function PlanDialog({ name, params, onClose }: { name: string; params: unknown; onClose: () => void }) {
  const { t } = useText()
  const project = useProject()
  const base = useBase()
  const [, navigate] = useLocation()
  const [error, set_error] = useState<string>()
  const plan = useQuery({ queryKey: ['pipelines', project, 'plan', name, params], queryFn: () => plan_pipeline(project, name, params), staleTime: 0, gcTime: 0 })
  const start = async () => {
    try {
      const run = await start_run(project, name, params)
      onClose()
      navigate(`${base}/pipelines/${encodeURIComponent(name)}/${run.number}`)
    } catch (failure) {
      set_error(failure instanceof Error ? failure.message : String(failure))
    }
  }
  const text = Object.entries((params as Record<string, unknown>) ?? {}).map(([key, value]) => `${key}=${String(value)}`).join(' ')
  return (
    <Dialog title={t('pipeline.plan.title', { name })} onClose={onClose} className="wide">
      <p>{t('pipeline.plan.text')} <span className="mono">{text}</span></p>
      <Loaded query={plan} what={t('pipeline.plan.error')} rows={5}>
        {(data) => (
          <table className="plan" aria-label={t('pipeline.plan')}>
            <thead><tr><th>{t('pipeline.node')}</th><th>{t('pipeline.verdict')}</th><th>{t('pipeline.reason')}</th></tr></thead>
            <tbody>
              {data.nodes.map((node) => (
                <tr key={node.name}>
                  <td><b className="b">{node.name}</b></td>
                  <td><StatusText state={node.verdict} /></td>
                  <td className="clip m" title={node.reason}>{node.reason}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Loaded>
      {error && <p className="t-red dlg-error" role="alert">{error}</p>}
      <div className="row dlg-row">
        <span className="grow" />
        <Button onClick={onClose}>{t('close')}</Button>
        <Button kind="primary" onClick={() => void start()}>{t('pipeline.start')}</Button>
      </div>
    </Dialog>
  )
}
