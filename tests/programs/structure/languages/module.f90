! Fortran: do loops in a module procedure and in the main program, a do while, array syntax.
module linear
  implicit none
contains

  subroutine multiply(a, b, c, n)
    integer, intent(in) :: n
    real(8), intent(in) :: a(n, n), b(n, n)
    real(8), intent(out) :: c(n, n)
    integer :: i, j, k
    real(8) :: t
    do j = 1, n ! @product_j
      do i = 1, n ! @product_i
        t = 0
        do k = 1, n ! @hot
          t = t + a(i, k) * b(k, j)
        end do
        c(i, j) = t
      end do
    end do
  end subroutine multiply

  function halvings(value) result(steps)
    integer, intent(in) :: value
    integer :: steps, rest
    rest = value
    steps = 0
    do while (rest > 0) ! @while
      rest = rest / 2 + mod(rest, 2) - 1
      steps = steps + 1
    end do
  end function halvings

end module linear

program main
  use linear
  implicit none
  integer :: n, i, j, total
  real(8), allocatable :: a(:, :), b(:, :), c(:, :)
  n = 38 + command_argument_count()
  allocate (a(n, n), b(n, n), c(n, n))
  do j = 1, n ! @fill_j
    do i = 1, n ! @fill_i
      a(i, j) = i + 0.5d0 * j
      b(i, j) = i - 0.25d0 * j
    end do
  end do
  call multiply(a, b, c, n)
  c = c + 2 * a ! @array
  total = 0
  do i = 1, 60 ! @calls
    total = total + halvings(i * 1000)
  end do
  print '(f16.3, i8)', sum(c), total
end program main
