// SPDX-License-Identifier: Apache-2.0
// The artifacts of a run: folders to walk, pictures and text to look at, everything to download.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { artifact_url, artifacts_query, type Artifact, type RunDetail } from '../../api/runs'
import { useProject } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { Icon } from '../../ui/icon'
import { Panel } from '../../ui/parts'
import { Loaded } from '../../ui/states'

const text_bytes_most = 256 * 1024

function kind_of(name: string): 'image' | 'text' | 'other' {
  if (/\.(png|jpe?g|gif|webp)$/i.test(name)) return 'image'
  if (/\.(txt|json|jsonl|csv|ya?ml|md|py|log|toml|cfg|ini|sh|lock)$/i.test(name) || name === 'MLmodel') return 'text'
  return 'other'
}

export function Artifacts({ run }: { run: RunDetail }) {
  const { t } = useText()
  const format = useFormat()
  const project = useProject()
  const [folder, set_folder] = useState('')
  const [chosen, set_chosen] = useState<Artifact>()
  const list = useQuery(artifacts_query(project, run.id, folder))
  const open = (item: Artifact) => {
    if (item.is_folder) {
      set_folder(item.path)
      set_chosen(undefined)
    } else set_chosen(item.path === chosen?.path ? undefined : item)
  }
  return (
    <Panel title={t('run.artifacts')} sub={t('run.artifacts.sub', { n: run.artifact_files, size: format.bytes(run.artifact_bytes) })} flush>
      {folder && (
        <p className="blk row">
          <button type="button" className="linkish" onClick={() => set_folder(folder.includes('/') ? folder.slice(0, folder.lastIndexOf('/')) : '')}>{t('run.up')}</button>
          <span className="mono f">{folder}/</span>
        </p>
      )}
      <Loaded query={list} what={t('run.artifacts.error')} rows={2}>
        {(items) =>
          items.length === 0 ? <p className="f blk">{t('run.artifacts.none')}</p> : (
            <ul className="arts">
              {items.map((item) => (
                <li key={item.path}>
                  <Icon name={item.is_folder ? 'right' : 'save'} size={14} />
                  <button type="button" className="linkish mono grow" aria-expanded={item.is_folder ? undefined : chosen?.path === item.path} onClick={() => open(item)}>{item.name}{item.is_folder ? '/' : ''}</button>
                  <span className="f num">{item.is_folder ? '' : format.bytes(item.size_bytes)}</span>
                  {!item.is_folder && <a className="icb" href={artifact_url(project, run.id, item.path)} download title={t('download')} aria-label={t('download_n', { name: item.name })}><Icon name="save" size={14} /></a>}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {chosen && <Preview key={chosen.path} run={run} file={chosen} />}
    </Panel>
  )
}

function Preview({ run, file }: { run: RunDetail; file: Artifact }) {
  const { t } = useText()
  const project = useProject()
  const kind = kind_of(file.name)
  const url = artifact_url(project, run.id, file.path)
  const text = useQuery({
    queryKey: ['runs', project, 'artifact-text', run.id, file.path],
    enabled: kind === 'text',
    queryFn: async ({ signal }) => {
      const response = await fetch(url, { signal, credentials: 'same-origin' })
      if (!response.ok) throw new Error(`HTTP ${response.status}`)
      const all = await response.text()
      return all.length > text_bytes_most ? `${all.slice(0, text_bytes_most)}\n…` : all
    },
    staleTime: Infinity,
  })
  if (kind === 'image') return <p className="blk"><img className="art-img" src={url} alt={file.name} /></p>
  if (kind === 'other') return <p className="f blk">{t('run.artifacts.no_preview')}</p>
  return <div className="blk"><Loaded query={text} what={file.name}>{(body) => <pre className="code" lang="en" tabIndex={0}>{body}</pre>}</Loaded></div>
}
