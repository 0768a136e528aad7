// SPDX-License-Identifier: Apache-2.0
// The list of keys.
import { useText, type PlainKey } from '../i18n'
import { Dialog } from '../ui/dialog'

const rows: [string[], PlainKey][] = [
  [['Ctrl K'], 'keys.palette'],
  [['/'], 'keys.filter'],
  [['g', 'l d j r m s p e'], 'keys.go'],
  [['j', 'k', 'Enter', 'x'], 'keys.rows'],
  [['[', ']'], 'keys.neighbours'],
  [['b', 'c', 'u'], 'keys.runs'],
  [['y'], 'keys.link'],
  [['.'], 'keys.command'],
  [['Space'], 'keys.pause'],
  [['Esc'], 'keys.close'],
]

export function Help({ onClose }: { onClose: () => void }) {
  const { t } = useText()
  return (
    <Dialog title={t('keys.title')} onClose={onClose}>
      <table className="keys">
        <tbody>
          {rows.map(([keys, word]) => (
            <tr key={word}>
              <td>
                <span className="row">
                  {keys.map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </span>
              </td>
              <td>{t(word)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="f">{t('keys.note')}</p>
    </Dialog>
  )
}
