! Fortran: array expressions, matmul, an internal procedure, formatted output and an allocatable array.
program fortran_arrays
  implicit none
  integer, parameter :: n = 24
  real(8) :: a(n, n), b(n, n), c(n, n)
  real(8), allocatable :: v(:)
  integer :: i, j

  do j = 1, n
    do i = 1, n
      a(i, j) = i + 0.5d0 * j
      b(i, j) = i - 0.25d0 * j
    end do
  end do
  c = matmul(a, b) + transpose(a)
  where (c < 0) c = 0
  allocate (v(n))
  v = sum(c, dim=1) / n
  write (*, '(a, f14.4)') 'trace ', trace_of(c)
  write (*, '(a, f14.4, i5)') 'largest ', maxval(v), maxloc(v)
  print '(4f12.3)', v(1:8)
  deallocate (v)
  stop 4

contains

  pure function trace_of(m) result(t)
    real(8), intent(in) :: m(:, :)
    real(8) :: t
    integer :: k
    t = 0
    do k = 1, size(m, 1)
      t = t + m(k, k)
    end do
  end function trace_of

end program fortran_arrays
