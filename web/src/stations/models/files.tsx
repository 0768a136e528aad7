// SPDX-License-Identifier: Apache-2.0
import { useQuery } from '@tanstack/react-query'
import { model_file_url, model_files_query, type ModelVersion } from '../../api/models'
import { useProject } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { Digest } from '../../ui/parts'
import { Loaded } from '../../ui/states'

export function Files({ version }: { version: ModelVersion }) {
  const { t } = useText()
  const format = useFormat()
  const project = useProject()
  const files = useQuery(model_files_query(project, version.name, version.version))
  return (
    <Loaded query={files} what={t('data.files.error')}>
      {(items) =>
        items.length === 0 ? <p className="f blk">{t('model.no_files')}</p> : (
          <div className="scroll">
            <table aria-label={t('model.files')}>
              <thead><tr><th>{t('data.path')}</th><th className="r">{t('size')}</th><th>{t('digest')}</th></tr></thead>
              <tbody>
                {items.map((file) => (
                  <tr key={file.path}>
                    <td><a className="mono" href={model_file_url(project, version.name, version.version, file.path)} download>{file.path}</a></td>
                    <td className="r num">{format.bytes(file.size_bytes)}</td>
                    <td><Digest value={file.digest} length={12} /></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )
      }
    </Loaded>
  )
}
