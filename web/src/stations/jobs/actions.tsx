// SPDX-License-Identifier: Apache-2.0
// Cancel and clone, each with what it means before it happens.
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { ApiError } from '../../api/client'
import { cancel_job, submit_job, type Job } from '../../api/jobs'
import { useBase, useProject, useShell } from '../../app/context'
import { useText } from '../../i18n'
import { Button } from '../../ui/parts'
import { Confirm, Dialog } from '../../ui/dialog'

export function CancelJob({ job, onClose }: { job: Job; onClose: () => void }) {
  const { t } = useText()
  const project = useProject()
  const queries = useQueryClient()
  return (
    <Confirm
      title={t('job.cancel.title', { n: String(job.number), name: job.name })}
      consequences={[
        { safe: false, text: job.state === 'waiting' ? t('job.cancel.waiting') : t('job.cancel.running') },
        { safe: true, text: t('job.cancel.kept') },
      ]}
      action={t('job.cancel')}
      keep={t('job.cancel.keep')}
      kind="danger"
      act={() => cancel_job(project, job.number).then(() => queries.invalidateQueries({ queryKey: ['jobs'] }))}
      onClose={onClose}
    />
  )
}

/** The document that submits the same work once more. */
export function document_of(job: Job, change: Record<string, unknown> = {}): Record<string, unknown> {
  return { kind: 'Job', name: job.name, spec: { ...job.spec, ...change } }
}

export function useSubmit(): (document: Record<string, unknown>) => Promise<Job> {
  const project = useProject()
  const base = useBase()
  const { t } = useText()
  const { toast } = useShell()
  const [, navigate] = useLocation()
  return async (document) => {
    const job = await submit_job(project, document)
    toast(t('job.submitted', { n: String(job.number) }))
    navigate(`${base}/jobs/${job.number}`)
    return job
  }
}

export function CloneDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const { t } = useText()
  const submit = useSubmit()
  const [text, set_text] = useState(() => JSON.stringify(document_of(job), null, 2))
  const [error, set_error] = useState<string>()
  const [busy, set_busy] = useState(false)
  const act = async () => {
    set_error(undefined)
    set_busy(true)
    try {
      await submit(JSON.parse(text) as Record<string, unknown>)
      onClose()
    } catch (failure) {
      const hint = failure instanceof ApiError && failure.hint ? ` ${failure.hint}` : ''
      set_error((failure instanceof Error ? failure.message : String(failure)) + hint)
      set_busy(false)
    }
  }
  return (
    <Dialog title={t('job.clone.title', { n: String(job.number) })} onClose={onClose} className="wide">
      <p>{t('job.clone.text')}</p>
      <textarea className="spec mono" spellCheck={false} aria-label={t('job.spec')} value={text} rows={18} onChange={(event) => set_text(event.target.value)} />
      {error && <p className="t-red dlg-error" role="alert">{error}</p>}
      <div className="row dlg-row">
        <span className="grow" />
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button kind="primary" busy={busy} onClick={() => void act()}>{t('job.submit')}</Button>
      </div>
    </Dialog>
  )
}
