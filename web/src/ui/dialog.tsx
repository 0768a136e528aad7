// SPDX-License-Identifier: Apache-2.0
// Dialogs on the native element: focus is kept inside and returns to the opener, Esc closes.
import { useEffect, useId, useRef, useState, type ReactNode } from 'react'
import { ApiError } from '../api/client'
import { useText } from '../i18n'
import { Glyph } from './icon'
import { Button } from './parts'

export function Dialog({ title, onClose, children, className = '' }: { title: string; onClose: () => void; children: ReactNode; className?: string }) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = element.current
    const opener = document.activeElement
    if (dialog && !dialog.open) dialog.showModal()
    return () => {
      if (opener instanceof HTMLElement) opener.focus()
    }
  }, [])
  return (
    <dialog
      ref={element}
      className={`dlg ${className}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        if (event.target === element.current) onClose()
      }}
    >
      <div className="dlg-in">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}

/** A question with its consequences. What is destructive and shared wants the name typed. */
export function Confirm(props: {
  title: string
  text?: ReactNode
  consequences?: { safe: boolean; text: ReactNode }[]
  typed_name?: string
  note?: { label: string; required: boolean }
  action: string
  kind?: 'primary' | 'approve' | 'danger'
  keep?: string
  act: (note: string) => Promise<unknown>
  onClose: () => void
}) {
  const { t } = useText()
  const [typed, set_typed] = useState('')
  const [note, set_note] = useState('')
  const [busy, set_busy] = useState(false)
  const [error, set_error] = useState<unknown>()
  const ready = (!props.typed_name || typed === props.typed_name) && (!props.note?.required || note.trim() !== '')
  const act = async () => {
    if (!ready) return
    set_busy(true)
    set_error(undefined)
    try {
      await props.act(note.trim())
      props.onClose()
    } catch (failure) {
      set_error(failure)
      set_busy(false)
    }
  }
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      {props.text && <p>{props.text}</p>}
      {props.consequences && (
        <ul>
          {props.consequences.map((item, index) => (
            <li key={index}>
              <Glyph name={item.safe ? 'ok' : 'warn'} />
              <span>{item.text}</span>
            </li>
          ))}
        </ul>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void act()
        }}
      >
        {props.note && (
          <label className="fld">
            <h3>{props.note.label}</h3>
            <textarea value={note} onChange={(event) => set_note(event.target.value)} />
          </label>
        )}
        {error !== undefined && (
          <p className="t-red dlg-error" role="alert">
            {error instanceof Error ? error.message : String(error)}
            {error instanceof ApiError && error.hint ? ` ${error.hint}` : ''}
          </p>
        )}
        <div className="row dlg-row">
          {props.typed_name && (
            <input
              className="inp"
              aria-label={t('confirm.type', { name: props.typed_name })}
              placeholder={t('confirm.type', { name: props.typed_name })}
              value={typed}
              onChange={(event) => set_typed(event.target.value)}
            />
          )}
          <span className="grow" />
          <Button onClick={props.onClose}>{props.keep ?? t('cancel')}</Button>
          <button type="submit" className={`btn ${props.kind === 'danger' ? 'df' : props.kind === 'approve' ? 'v' : 'p'}`} disabled={!ready || busy}>
            {props.action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
