// SPDX-License-Identifier: Apache-2.0
// The three groups of the jobs page.
import type { Job } from '../../api/jobs'
import { is_ended } from '../../ui/status'

export type Group = 'waiting' | 'running' | 'ended'

export function group_of(job: Job): Group {
  return job.state === 'waiting' ? 'waiting' : is_ended(job.state) ? 'ended' : 'running'
}

/** Waiting jobs stand in the order of their start: priority first, then the oldest. */
export function in_order(jobs: Job[], group: Group): Job[] {
  const own = jobs.filter((job) => group_of(job) === group)
  if (group === 'waiting') return own.sort((a, b) => b.priority - a.priority || a.number - b.number)
  return own.sort((a, b) => b.number - a.number)
}
