// SPDX-License-Identifier: Apache-2.0
// Moving an alias: what it points at now, and what follows it.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { set_alias, type Model, type ModelVersion } from '../../api/models'
import { services_query } from '../../api/services'
import { useProject, useShell } from '../../app/context'
import { useText } from '../../i18n'
import { Confirm } from '../../ui/dialog'

export function AliasDialog({ model, version, onClose }: { model: Model; version: ModelVersion; onClose: () => void }) {
  const { t } = useText()
  const project = useProject()
  const queries = useQueryClient()
  const { toast } = useShell()
  const services = useQuery(services_query(project))
  const [alias, set_alias_name] = useState(version.aliases.includes('candidate') || model.aliases.candidate ? 'production' : 'candidate')
  const before = model.aliases[alias]
  const name = `${version.name}@${version.version}`
  const known = [...new Set(['production', 'candidate', ...Object.keys(model.aliases)])]
  return (
    <Confirm
      title={t('model.alias.title', { name })}
      text={
        <label className="fld">
          <h3>{t('model.alias.which')}</h3>
          <input className="inp wide-inp" list="known-aliases" value={alias} onChange={(event) => set_alias_name(event.target.value.trim())} />
          <datalist id="known-aliases">{known.map((item) => <option key={item} value={item} />)}</datalist>
        </label>
      }
      consequences={[
        before === undefined ? { safe: true, text: t('model.alias.new', { alias: alias || '–' }) } : before === version.version ? { safe: true, text: t('model.alias.same', { alias }) } : { safe: true, text: t('model.alias.from', { alias, from: before, to: version.version }) },
        ...((services.data ?? []).length ? [{ safe: true, text: t('model.alias.traffic') }] : []),
      ]}
      action={t('model.alias.act', { alias: alias || '–' })}
      act={async () => {
        await set_alias(project, version.name, alias, version.version)
        await queries.invalidateQueries({ queryKey: ['models'] })
        toast(t('model.alias.done', { alias, name }), before !== undefined && before !== version.version ? () => void set_alias(project, version.name, alias, before).then(() => queries.invalidateQueries({ queryKey: ['models'] })) : undefined)
      }}
      onClose={onClose}
    />
  )
}
