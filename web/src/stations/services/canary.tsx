// SPDX-License-Identifier: Apache-2.0
// Starting a canary: another model version beside the stable one, at a small share.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { model_versions_query } from '../../api/models'
import { stable_of, start_canary, type Service } from '../../api/services'
import { useProject } from '../../app/context'
import { useText } from '../../i18n'
import { parse_ref } from '../../lib/url'
import { Confirm } from '../../ui/dialog'

export function CanaryDialog({ service, onClose }: { service: Service; onClose: () => void }) {
  const { t } = useText()
  const project = useProject()
  const queries = useQueryClient()
  const model = parse_ref(stable_of(service)?.model ?? service.revisions[0]?.model ?? '')
  const versions = useQuery({ ...model_versions_query(project, model.name), enabled: model.name !== '' })
  const others = (versions.data ?? []).filter((version) => String(version.version) !== model.version)
  const [version, set_version] = useState<string>()
  const [share, set_share] = useState('5')
  const chosen = version ?? (others[0] ? `${model.name}@${others[0].version}` : '')
  return (
    <Confirm
      title={t('canary.title', { name: service.name })}
      text={
        <>
          <label className="fld"><h3>{t('canary.model')}</h3>
            <select className="inp" value={chosen} onChange={(event) => set_version(event.target.value)}>
              {others.map((item) => <option key={item.version} value={`${model.name}@${item.version}`}>{model.name}@{item.version} {item.aliases.join(' ')}</option>)}
            </select>
          </label>
          <label className="fld"><h3>{t('canary.share')}</h3><input className="inp" inputMode="decimal" value={share} onChange={(event) => set_share(event.target.value)} /></label>
        </>
      }
      consequences={[{ safe: true, text: t('canary.text') }]}
      action={t('canary.start')}
      act={() => start_canary(project, service.name, chosen, Number(share)).then(() => queries.invalidateQueries({ queryKey: ['services'] }))}
      onClose={onClose}
    />
  )
}
