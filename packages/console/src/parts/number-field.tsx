import { TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { formatRupiah } from '../format.js';
import { t } from '../text/text.js';
import { parseNumber } from './parse-number.js';

/**
 * A field that keeps a number exactly as it was typed. A form with an invalid number is not
 * submitted. Read the value with `parseNumber` and the same number of decimals. An empty field has the
 * value ''.
 */
export function NumberField({
  label,
  description,
  required = false,
  least,
  most,
  decimals = 0,
  isRupiah = false,
  value,
  onChange,
}: {
  label: string;
  description?: string;
  required?: boolean;
  least: number;
  most?: number;
  decimals?: number;
  /** True if the parsed number is also shown as an amount below the field. */
  isRupiah?: boolean;
  value: string;
  onChange: (value: string) => void;
}): React.ReactElement {
  const [isLeft, setLeft] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const number = parseNumber(value, decimals);
  const problem = value.trim() === '' ? '' : getProblem(number, { least, most, decimals });
  useEffect(() => input.current?.setCustomValidity(problem), [problem]);
  const read = isRupiah && problem === '' && value.trim() !== '' ? formatRupiah(number) : undefined;
  return (
    <TextInput
      ref={input}
      label={label}
      description={read ?? description}
      required={required}
      inputMode={decimals === 0 ? 'numeric' : 'decimal'}
      autoComplete="off"
      maxLength={24}
      value={value}
      error={isLeft && problem !== '' ? problem : undefined}
      onBlur={() => setLeft(true)}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function getProblem(
  number: number,
  { least, most, decimals }: { least: number; most: number | undefined; decimals: number },
): string {
  if (Number.isNaN(number)) {
    return decimals === 0 ? t('numberWhole') : t('numberDecimals', { decimals });
  }
  if (number < least) {
    return t('numberLeast', { least });
  }
  return most !== undefined && number > most ? t('numberMost', { most }) : '';
}
