// SPDX-License-Identifier: Apache-2.0
// The artifacts of a run: a tree of folders at the left, a look at the chosen file at the right.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { artifact_url, artifacts_query, type Artifact, type RunDetail } from '../../api/runs'
import { useProject } from '../../app/context'
import { useText } from '../../i18n'
import { useFormat } from '../../lib/format'
import { useParams_of_url } from '../../lib/url'
import { Preview } from '../../preview/preview'
import { Icon } from '../../ui/icon'
import { Panel } from '../../ui/parts'
import { Loaded } from '../../ui/states'

const listed_most = 300

export function Artifacts({ run }: { run: RunDetail }) {
  const { t } = useText()
  const format = useFormat()
  const [params, set_params] = useParams_of_url()
  const chosen = params.get('file') ?? undefined
  return (
    <Panel title={t('run.artifacts')} sub={t('run.artifacts.sub', { n: run.artifact_files, size: format.bytes(run.artifact_bytes) })} flush>
      {run.artifact_files === 0 ? <p className="f blk">{t('run.artifacts.none')}</p> : (
        <div className="art-split">
          <Folder run={run} path="" chosen={chosen} onChoose={(path) => set_params({ file: path === chosen ? null : path })} />
          <div className="art-look">{chosen ? <ChosenFile key={chosen} run={run} path={chosen} /> : <p className="f">{t('run.artifacts.choose')}</p>}</div>
        </div>
      )}
    </Panel>
  )
}

interface FolderProps {
  run: RunDetail
  path: string
  chosen: string | undefined
  onChoose: (path: string) => void
}

function Folder({ run, path, chosen, onChoose }: FolderProps) {
  const { t } = useText()
  const project = useProject()
  const list = useQuery(artifacts_query(project, run.id, path))
  const [all, set_all] = useState(false)
  return (
    <Loaded query={list} what={t('run.artifacts.error')} rows={2}>
      {(items) => (
        <ul className="arts">
          {(all ? items : items.slice(0, listed_most)).map((item) => item.is_folder ? <SubFolder key={item.path} run={run} item={item} chosen={chosen} onChoose={onChoose} /> : <File key={item.path} run={run} item={item} is_chosen={item.path === chosen} onChoose={onChoose} />)}
          {!all && items.length > listed_most && <li><button type="button" className="linkish" onClick={() => set_all(true)}>{t('show_all', { n: items.length })}</button></li>}
        </ul>
      )}
    </Loaded>
  )
}

function SubFolder({ run, item, chosen, onChoose }: Omit<FolderProps, 'path'> & { item: Artifact }) {
  const [open, set_open] = useState(chosen?.startsWith(`${item.path}/`) ?? false)
  return (
    <li>
      <span className="art-row">
        <button type="button" className="art-name mono" aria-expanded={open} onClick={() => set_open(!open)}><Icon name={open ? 'down' : 'right'} size={14} /> {item.name}/</button>
      </span>
      {open && <Folder run={run} path={item.path} chosen={chosen} onChoose={onChoose} />}
    </li>
  )
}

function File({ run, item, is_chosen, onChoose }: { run: RunDetail; item: Artifact; is_chosen: boolean; onChoose: (path: string) => void }) {
  const { t } = useText()
  const format = useFormat()
  const project = useProject()
  return (
    <li>
      <span className={`art-row ${is_chosen ? 'on' : ''}`}>
        <button type="button" className="art-name mono ell" aria-pressed={is_chosen} title={item.path} onClick={() => onChoose(item.path)}>{item.name}</button>
        <span className="f num nw">{format.bytes(item.size_bytes)}</span>
        <a className="icb" href={artifact_url(project, run.id, item.path)} download title={t('download')} aria-label={t('download_n', { name: item.name })}><Icon name="save" size={14} /></a>
      </span>
    </li>
  )
}

function ChosenFile({ run, path }: { run: RunDetail; path: string }) {
  const { t } = useText()
  const format = useFormat()
  const project = useProject()
  const slash = path.lastIndexOf('/')
  const list = useQuery(artifacts_query(project, run.id, slash < 0 ? '' : path.slice(0, slash)))
  return (
    <Loaded query={list} what={t('run.artifacts.error')} rows={2}>
      {(items) => {
        const item = items.find((other) => other.path === path)
        if (!item || item.is_folder) return <p className="f">{t('run.artifacts.gone', { path })}</p>
        return (
          <>
            <p className="row art-head"><b className="mono wrap-any">{path}</b><span className="f num">{format.bytes(item.size_bytes)}</span></p>
            <Preview file={{ path, name: item.name, size_bytes: item.size_bytes, url: artifact_url(project, run.id, path), url_of: (other) => artifact_url(project, run.id, other) }} />
          </>
        )
      }}
    </Loaded>
  )
}
