// SPDX-License-Identifier: Apache-2.0
// A person's word on a version for an alias, and taking an alias back to who held it before.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { alias_moves_query, judge_version, roll_back_alias, type AliasMove, type ModelVersion } from '../../api/models'
import { useProject, useShell } from '../../app/context'
import { useText } from '../../i18n'
import { Confirm } from '../../ui/dialog'

export function JudgeDialog({ version, alias, verdict, onClose }: { version: ModelVersion; alias: string; verdict: 'approved' | 'rejected'; onClose: () => void }) {
  const { t } = useText()
  const project = useProject()
  const queries = useQueryClient()
  const { toast } = useShell()
  const name = `${version.name}@${version.version}`
  const approves = verdict === 'approved'
  return (
    <Confirm
      title={approves ? t('model.approve.title', { name, alias }) : t('model.reject.title', { name, alias })}
      consequences={[
        { safe: true, text: approves ? t('model.approve.text', { alias }) : t('model.reject.text', { alias }) },
        { safe: true, text: t('model.judge.kept') },
      ]}
      note={{ label: approves ? t('approve.note') : t('reject.reason'), required: !approves }}
      action={approves ? t('approve') : t('reject')}
      kind={approves ? 'approve' : 'danger'}
      act={async (comment) => {
        await judge_version(project, version.name, version.version, { alias, verdict, comment })
        await queries.invalidateQueries({ queryKey: ['models'] })
        toast(approves ? t('model.approved', { name }) : t('model.rejected', { name }))
      }}
      onClose={onClose}
    />
  )
}

/** Who would hold the alias after a roll back: the newest holder that is another than the present one. */
export function holder_before(moves: AliasMove[], now: number | undefined): number | undefined {
  return moves.find((move) => move.kind !== 'removed' && move.version !== now)?.version
}

export function RollBackDialog({ name, alias, holder, onClose }: { name: string; alias: string; holder: number | undefined; onClose: () => void }) {
  const { t } = useText()
  const project = useProject()
  const queries = useQueryClient()
  const { toast } = useShell()
  const moves = useQuery(alias_moves_query(project, name, alias))
  const before = holder_before(moves.data ?? [], holder)
  return (
    <Confirm
      title={t('model.rollback.title', { alias })}
      consequences={[
        ...(before !== undefined && holder !== undefined ? [{ safe: true, text: t('model.alias.from', { alias, from: holder, to: before }) }] : []),
        { safe: true, text: t('model.rollback.rules') },
        { safe: true, text: t('model.alias.traffic') },
      ]}
      note={{ label: t('reject.reason'), required: false }}
      action={t('model.rollback')}
      act={async (reason) => {
        const version = await roll_back_alias(project, name, alias, reason)
        await queries.invalidateQueries({ queryKey: ['models'] })
        toast(t('model.alias.done', { alias, name: `${name}@${version.version}` }))
      }}
      onClose={onClose}
    />
  )
}
