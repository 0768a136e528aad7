// SPDX-License-Identifier: Apache-2.0
// The value-stream map: how long things were worked on at each station and waited before it, from finished pipeline
// runs. A run's nodes belong to the station whose thing they make.
import type { PipelineNode, PipelineRun } from '../../api/pipelines'

export const ladder_stations = ['data', 'jobs', 'runs', 'models', 'services'] as const
export type LadderStation = (typeof ladder_stations)[number]

export interface LeadTime {
  work: Record<LadderStation, number>
  /** Waiting before each station but the first. */
  wait: Record<LadderStation, number>
  total: number
  /** Which wait is longest, and whether a person was waited for. */
  longest: LadderStation | undefined
  by_person: boolean
}

export function station_of_node(node: PipelineNode): LadderStation {
  if (node.action === 'validate') return 'data'
  if (node.action === 'register' || node.action === 'gate') return 'models'
  if (node.action === 'deploy-canary' || node.action === 'promote') return 'services'
  const kinds = Object.values(node.outputs ?? {}).map((value) => value.kind)
  if (kinds.includes('model')) return 'jobs'
  if (kinds.includes('dataset')) return 'data'
  return kinds.includes('json') || kinds.includes('report') ? 'runs' : 'jobs'
}

const at = (time: string | undefined) => (time ? Date.parse(time) : undefined)

export function lead_time_of(run: PipelineRun): LeadTime | undefined {
  const nodes = (run.nodes ?? []).filter((node) => node.started_at && node.ended_at)
  const ended = at(run.ended_at)
  if (!nodes.length || ended === undefined) return undefined
  const zero = () => Object.fromEntries(ladder_stations.map((station) => [station, 0])) as Record<LadderStation, number>
  const work = zero()
  const wait = zero()
  let person = 0
  let reached = at(run.started_at)!
  for (const station of ladder_stations) {
    const own = nodes.filter((node) => station_of_node(node) === station)
    if (!own.length) continue
    const asked = own.map((node) => at(node.approve?.asked_at)).filter((time): time is number => time !== undefined)
    for (const node of own) {
      const from = at(node.started_at)!
      const to = at(node.ended_at)!
      const question = at(node.approve?.asked_at)
      if (question !== undefined && node.approve?.approver) {
        // The node waited for a person from the question to its own start, or to its end where it only asks.
        const answered = from > question ? from : to
        wait[station] += Math.max(0, answered - question)
        person += Math.max(0, answered - question)
        work[station] += Math.max(0, to - answered)
      } else work[station] += to - from
    }
    const first = Math.min(...own.map((node) => at(node.started_at)!), ...asked)
    if (station !== 'data') wait[station] += Math.max(0, first - reached)
    reached = Math.max(reached, ...own.map((node) => at(node.ended_at)!))
  }
  const waits = ladder_stations.filter((station) => station !== 'data').sort((a, b) => wait[b] - wait[a])
  const longest = waits[0] && wait[waits[0]] > 0 ? waits[0] : undefined
  return { work, wait, total: ended - at(run.started_at)!, longest, by_person: longest !== undefined && person >= wait[longest] / 2 && person > 0 }
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export function median_lead_time(all: LeadTime[]): LeadTime | undefined {
  if (!all.length) return undefined
  const pick = (of: (lead: LeadTime) => number) => median(all.map(of))
  const work = Object.fromEntries(ladder_stations.map((station) => [station, pick((lead) => lead.work[station])])) as LeadTime['work']
  const wait = Object.fromEntries(ladder_stations.map((station) => [station, pick((lead) => lead.wait[station])])) as LeadTime['wait']
  const waits = ladder_stations.filter((station) => station !== 'data').sort((a, b) => wait[b] - wait[a])
  const longest = waits[0] && wait[waits[0]] > 0 ? waits[0] : undefined
  return { work, wait, total: pick((lead) => lead.total), longest, by_person: all.filter((lead) => lead.by_person && lead.longest === longest).length * 2 > all.length }
}
