// SPDX-License-Identifier: Apache-2.0
// Why a job waits or failed: cause with numbers, evidence, steps; the first step is the primary one.
import { useState, type ReactNode } from 'react'
import type { Attempt, Job } from '../../api/jobs'
import { useText } from '../../i18n'
import { useFormat, to_ms } from '../../lib/format'
import { useNow } from '../../lib/now'
import { parse_duration_ms, parse_size, write_duration, write_memory } from '../../lib/units'
import { Glyph } from '../../ui/icon'
import { glyph_of } from '../../ui/status'
import { Button } from '../../ui/parts'
import { document_of, useSubmit } from './actions'

export function memory_limit_of(job: Job): number {
  const limit = job.spec?.limits?.memory
  return (limit !== undefined ? parse_size(limit) : undefined) ?? job.resources.memory_bytes
}

export function WhyPanel({ job, reason }: { job: Job; reason?: ReactNode }) {
  const { t } = useText()
  const waiting = job.state === 'waiting'
  const failed = job.state === 'failed'
  const last = job.attempts[job.attempts.length - 1]
  if (!waiting && !failed) return null
  return (
    <section className={`panel why ${waiting ? 'calm' : ''}`} aria-label={t('why')} id="why" tabIndex={-1}>
      <div>
        <h2>
          <Glyph name={waiting ? 'wait' : 'bad'} size={18} />
          {waiting ? t('job.waits') : t(`failure.${job.failure ?? 'none'}`)}
        </h2>
        <p className="cause">{job.reason ?? (waiting ? t('job.waits.unknown') : '')}</p>
        {reason}
        {failed && last && <ExitMeaning attempt={last} />}
        {failed && <Steps job={job} />}
      </div>
      <div className="ev">
        {waiting ? <Asked job={job} /> : <Attempts job={job} />}
      </div>
    </section>
  )
}

function ExitMeaning({ attempt }: { attempt: Attempt }) {
  const { t } = useText()
  const code = attempt.exit_code
  if (attempt.signal) return <p>{t('exit.signal', { n: attempt.signal })}</p>
  if (code === undefined) return null
  if (code > 128 && code < 160) return <p>{t('exit.128', { code, n: code - 128 })}</p>
  if (code === 126) return <p>{t('exit.126')}</p>
  if (code === 127) return <p>{t('exit.127')}</p>
  return <p>{t('exit.other', { code })}</p>
}

function Steps({ job }: { job: Job }) {
  const { t } = useText()
  const format = useFormat()
  const submit = useSubmit()
  const [error, set_error] = useState<string>()
  const act = (document: Record<string, unknown>) => {
    set_error(undefined)
    submit(document).catch((failure: unknown) => set_error(failure instanceof Error ? failure.message : String(failure)))
  }
  const steps: { word: string; text: string; act: () => void }[] = []
  if (job.failure === 'out_of_memory') {
    const more = memory_limit_of(job) * 2
    steps.push({
      word: t('job.step.memory', { size: format.memory(more) }),
      text: t('job.step.memory.text', { size: format.memory(memory_limit_of(job)) }),
      act: () => act(document_of(job, {
        resources: { ...job.spec?.resources, memory: write_memory(more) },
        limits: { ...job.spec?.limits, memory: write_memory(more) },
      })),
    })
  }
  const timeout = parse_duration_ms(job.spec?.timeout)
  if (job.failure === 'timeout' && timeout) {
    steps.push({
      word: t('job.step.time', { span: format.duration(timeout * 2) }),
      text: t('job.step.time.text', { span: format.duration(timeout) }),
      act: () => act(document_of(job, { timeout: write_duration(timeout * 2) })),
    })
  }
  steps.push({ word: t('job.step.again'), text: t('job.step.again.text'), act: () => act(document_of(job)) })
  steps.push({ word: t('job.step.log'), text: t('job.step.log.text'), act: () => document.querySelector<HTMLElement>('.lb-scroll')?.focus() })
  return (
    <ul className="steps">
      {steps.map((step, index) => (
        <li key={step.word}>
          <Button small kind={index === 0 ? 'primary' : 'plain'} onClick={step.act}>{step.word}</Button>
          <span>{step.text}</span>
        </li>
      ))}
      {error && <li className="t-red" role="alert">{error}</li>}
    </ul>
  )
}

function Asked({ job }: { job: Job }) {
  const { t } = useText()
  const format = useFormat()
  const now = useNow()
  return (
    <>
      <h3>{t('job.asks')}</h3>
      <dl className="kv">
        <div className="kvr"><dt>CPU</dt><dd className="num">{format.cpu(job.resources.cpu_millicores)}</dd></div>
        <div className="kvr"><dt>{t('memory')}</dt><dd className="num">{format.memory(job.resources.memory_bytes)}</dd></div>
        {job.resources.gpus > 0 && <div className="kvr"><dt>GPU</dt><dd className="num">{job.resources.gpus}</dd></div>}
        <div className="kvr"><dt>{t('priority')}</dt><dd className="num">{job.priority}</dd></div>
        <div className="kvr"><dt>{t('jobs.waited')}</dt><dd>{format.duration(now - (to_ms(job.submitted_at) ?? now))}</dd></div>
      </dl>
    </>
  )
}

/** One bar per attempt on the time axis, and under it the memory that each reached. */
function Attempts({ job }: { job: Job }) {
  const { t } = useText()
  const format = useFormat()
  const limit = memory_limit_of(job)
  const begun = job.attempts.filter((attempt) => attempt.started_at)
  const from = Math.min(...begun.map((attempt) => to_ms(attempt.started_at)!))
  const to = Math.max(...begun.map((attempt) => to_ms(attempt.ended_at) ?? Date.now()))
  const reach = Math.max(1, to - from)
  const place = (ms: number) => `${((ms - from) / reach) * 100}%`
  return (
    <>
      <h3>{t('job.attempts', { n: job.attempts.length })}</h3>
      {begun.length > 0 && (
        <div className="atl" aria-hidden="true">
          {begun.map((attempt) => {
            const start = to_ms(attempt.started_at)!
            return <i key={attempt.number} className={glyph_of(attempt.state) === 'bad' ? 'bad' : ''} style={{ left: place(start), width: `max(3px, ${(((to_ms(attempt.ended_at) ?? Date.now()) - start) / reach) * 100}%)` }} />
          })}
          <span className="s">{format.clock(from)}</span>
          <span className="e">{format.clock(to)}</span>
        </div>
      )}
      <table className="atts">
        <thead>
          <tr><th>{t('log.attempt_head')}</th><th>{t('jobs.result')}</th><th className="r">{t('took')}</th><th className="r">CPU</th><th className="r">{t('job.memory_of', { size: format.memory(limit) })}</th></tr>
        </thead>
        <tbody>
          {job.attempts.map((attempt) => {
            const peak = attempt.memory_bytes_peak
            const took = attempt.started_at && attempt.ended_at ? Date.parse(attempt.ended_at) - Date.parse(attempt.started_at) : undefined
            return (
              <tr key={attempt.number}>
                <td className="num">{attempt.number}</td>
                <td className="clip"><span className="st"><Glyph name={glyph_of(attempt.state)} size={14} /><span title={attempt.reason}>{attempt.exit_code !== undefined ? t('exit.code', { code: attempt.exit_code }) : attempt.signal ? t('exit.signal_n', { n: attempt.signal }) : (attempt.reason ?? '–')}</span></span></td>
                <td className="r num">{format.duration(took)}</td>
                <td className="r num">{format.duration(attempt.cpu_ms)}</td>
                <td className={`r num ${peak !== undefined && peak >= limit * 0.95 ? 't-red b' : ''}`}>{format.memory(peak)}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </>
  )
}
