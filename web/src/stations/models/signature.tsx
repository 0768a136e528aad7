// SPDX-License-Identifier: Apache-2.0
// What the model takes and gives, as its MLmodel file says.
import { useQuery } from '@tanstack/react-query'
import { model_evidence_query, type ModelVersion } from '../../api/models'
import { useProject } from '../../app/context'
import { useText } from '../../i18n'
import { JsonTree } from '../../preview/json_tree'
import { Loaded } from '../../ui/states'

export interface Field {
  name: string
  type: string
  shape: string
}

/** The fields of one side; undefined when they are written in a way not known here. */
export function fields_of(side: unknown): Field[] | undefined {
  const list = typeof side === 'string' ? parsed(side) : side
  if (!Array.isArray(list)) return undefined
  return list.map((item: unknown) => {
    const field = (item ?? {}) as { name?: unknown; type?: unknown; dtype?: unknown; shape?: unknown; 'tensor-spec'?: { dtype?: unknown; shape?: unknown } }
    const tensor = field['tensor-spec']
    const shape = tensor?.shape ?? field.shape
    return { name: typeof field.name === 'string' ? field.name : '–', type: String(tensor?.dtype ?? field.dtype ?? field.type ?? '–'), shape: Array.isArray(shape) ? `[${shape.join(', ')}]` : '' }
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function Signature({ version }: { version: ModelVersion }) {
  const { t } = useText()
  const project = useProject()
  const evidence = useQuery(model_evidence_query(project, version.name, version.version))
  return (
    <Loaded query={evidence} what={t('model.signature.error')} rows={3}>
      {({ signature }) => {
        const sides = Object.entries((signature ?? {}) as Record<string, unknown>).filter(([, side]) => side !== null && side !== undefined)
        if (!sides.length) return <p className="f blk">{t('model.signature.none')}</p>
        return <div className="pb">{sides.map(([name, side]) => <Side key={name} name={name} side={side} />)}</div>
      }}
    </Loaded>
  )
}

function Side({ name, side }: { name: string; side: unknown }) {
  const { t } = useText()
  const fields = fields_of(side)
  const word = name === 'inputs' ? t('model.signature.inputs') : name === 'outputs' ? t('model.signature.outputs') : name
  return (
    <>
      <h3 className="cm-head">{word}</h3>
      {fields === undefined ? <JsonTree value={side} /> : (
        <table className="mt" aria-label={word}>
          <thead><tr><th scope="col">{t('name')}</th><th scope="col">{t('data.type')}</th><th scope="col">{t('model.signature.shape')}</th></tr></thead>
          <tbody>{fields.map((field, index) => <tr key={index}><td className="mono">{field.name}</td><td className="mono">{field.type}</td><td className="mono">{field.shape}</td></tr>)}</tbody>
        </table>
      )}
    </>
  )
}
